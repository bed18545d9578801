#include "text/files/ggml_vocabulary.h"

#include <cstring>

namespace tutti {
namespace {

constexpr std::uint32_t kMagic = 0x67676d6c;
constexpr std::int64_t kMostFilters = 1 << 16;  // far above any model, far below what overflows

/// Takes the file apart from the front. A read past its end fails and sticks.
class Cursor {
 public:
  explicit Cursor(std::string_view file) : rest_(file) {}

  std::int32_t number() {
    std::int32_t value = 0;
    if (const auto bytes = take(sizeof value); bytes.size() == sizeof value)
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  /// Nothing where `size` is negative or more than there is.
  std::string_view take(std::int64_t size) {
    if (failed_ || size < 0 || static_cast<std::uint64_t>(size) > rest_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool failed() const { return failed_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

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
  Cursor cursor(file.substr(sizeof kMagic));
  GgmlHead head;
  for (auto* field :
       {&head.n_vocab, &head.n_audio_ctx, &head.n_audio_state, &head.n_audio_head, &head.n_audio_layer,
        &head.n_text_ctx, &head.n_text_state, &head.n_text_head, &head.n_text_layer, &head.n_mels, &head.file_type})
    *field = cursor.number();
  // The filters are the same in every file; ours are built in.
  const std::int64_t filters = cursor.number();
  const std::int64_t bins = cursor.number();
  const bool possible = filters >= 0 && filters <= kMostFilters && bins >= 0 && bins <= kMostFilters;
  cursor.take(possible ? filters * bins * static_cast<std::int64_t>(sizeof(float)) : -1);
  if (cursor.failed()) return cut_off("mel filters");
  const std::int32_t count = cursor.number();
  if (cursor.failed() || count < 0 || count > kMostTokens)
    return fail(Fault::corrupt, "its vocabulary has " + std::to_string(count) + " tokens");
  for (std::int32_t id = 0; id < count && !cursor.failed(); ++id) head.tokens.push_back(cursor.take(cursor.number()));
  if (cursor.failed()) return cut_off("vocabulary");
  head.tensors_at = file.size() - cursor.left();
  return head;
}

VocabularyFile vocabulary_of(const GgmlHead& head) {
  VocabularyFile file;
  file.tokens.assign(head.tokens.begin(), head.tokens.end());
  return file;
}

}  // namespace tutti
