#include "text/files/openai_vocabulary.h"

namespace tutti {

extern const std::string_view kEnglishTiktoken;
extern const std::string_view kMultilingualTiktoken;

std::string_view openai_vocabulary(std::int32_t n_vocab) {
  return n_vocab <= kEnglishVocabulary ? kEnglishTiktoken : kMultilingualTiktoken;
}

}  // namespace tutti
