#include <cstdint>
#include <cstdlib>

#include "serve/http/multipart.h"

namespace {

struct Counted final : tutti::FormSink {
  tutti::Result<void> begin(const tutti::FormPart& part) override {
    if (open) std::abort();
    open = true;
    bytes += part.name.size();
    return {};
  }
  tutti::Result<void> take(std::string_view piece) override {
    if (!open) std::abort();
    bytes += piece.size();
    return {};
  }
  tutti::Result<void> end() override {
    if (!open) std::abort();
    open = false;
    return {};
  }
  bool open = false;
  std::size_t bytes = 0;
};

}  // namespace

// The first byte is the size of the pieces. What came out is never more than what went in, and the size of the pieces
// makes no difference to it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto read = [&](std::size_t piece, Counted& sink) {
    tutti::MultipartReader reader("XX", sink);
    for (std::size_t at = 0; at < body.size(); at += piece)
      if (!reader.feed(body.substr(at, piece))) return false;
    return reader.finish().has_value();
  };
  Counted whole, pieces;
  const bool valid = read(body.size() + 1, whole);
  if (read(std::size_t{1} + data[0], pieces) != valid) std::abort();
  if (valid && (whole.open || whole.bytes != pieces.bytes)) std::abort();
  if (whole.bytes > body.size()) std::abort();
  return 0;
}
