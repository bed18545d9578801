#include <cstring>

#include "base/bytes.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

constexpr std::uint32_t kMagic = 0x67676d6c;
constexpr std::int64_t kMostFilters = 1 << 16;  // far above any model, far below what overflows

tl::unexpected<Error> cut_off(const std::string& where) {
  return fail(Fault::corrupt, "the file ends in its " + where, "It is truncated: get it again");
}

}  // namespace

bool is_ggml(std::string_view file) {
  std::uint32_t magic = 0;
  if (file.size() < sizeof magic) return false;
  std::memcpy(&magic, file.data(), sizeof magic);
  return magic == kMagic;
}

Result<GgmlHead> parse_ggml_head(std::string_view file) {
  if (!is_ggml(file)) return fail(Fault::unsupported, "not a model of whisper.cpp: it does not begin with its mark");
  ByteReader reader(file.substr(sizeof kMagic));
  GgmlHead head;
  for (auto* field :
       {&head.n_vocab, &head.n_audio_ctx, &head.n_audio_state, &head.n_audio_head, &head.n_audio_layer,
        &head.n_text_ctx, &head.n_text_state, &head.n_text_head, &head.n_text_layer, &head.n_mels, &head.file_type})
    *field = reader.number<std::int32_t>();
  // The filters are the same in every file; ours are built in.
  const std::int64_t filters = reader.number<std::int32_t>();
  const std::int64_t bins = reader.number<std::int32_t>();
  const bool possible = filters >= 0 && filters <= kMostFilters && bins >= 0 && bins <= kMostFilters;
  if (possible) reader.bytes(static_cast<std::size_t>(filters * bins) * sizeof(float));
  if (!possible || reader.failed()) return cut_off("mel filters");
  const auto count = reader.number<std::int32_t>();
  if (reader.failed() || count < 0 || count > kMostTokens)
    return fail(Fault::corrupt, "its vocabulary has " + std::to_string(count) + " tokens");
  for (std::int32_t id = 0; id < count && !reader.failed(); ++id) {
    const auto size = reader.number<std::int32_t>();
    if (size < 0) return cut_off("vocabulary");
    head.tokens.push_back(reader.bytes(static_cast<std::size_t>(size)));
  }
  if (reader.failed()) return cut_off("vocabulary");
  head.tensors_at = file.size() - reader.left();
  return head;
}

VocabularyFile vocabulary_of(const GgmlHead& head) {
  VocabularyFile file;
  file.tokens.assign(head.tokens.begin(), head.tokens.end());
  return file;
}

}  // namespace tutti
