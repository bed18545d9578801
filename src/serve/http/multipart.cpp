#include "serve/http/multipart.h"

#include <algorithm>

#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kMostBoundary = 70;  // RFC 2046

/// The value of a parameter such as boundary=x or name="a \"b\""; none: the header has no such parameter.
std::optional<std::string> parameter(std::string_view header, std::string_view wanted) {
  std::size_t at = header.find(';');
  while (at < header.size()) {
    ++at;
    const auto equals = std::min(header.find_first_of("=;", at), header.size());
    const auto name = trimmed(header.substr(at, equals - at));
    std::string value;
    at = equals;
    if (at < header.size() && header[at] == '=') {
      ++at;
      while (at < header.size() && (header[at] == ' ' || header[at] == '\t')) ++at;
      if (at < header.size() && header[at] == '"') {
        for (++at; at < header.size() && header[at] != '"'; ++at) {
          if (header[at] == '\\' && at + 1 < header.size() && (header[at + 1] == '"' || header[at + 1] == '\\')) ++at;
          value += header[at];
        }
        at = std::min(header.find(';', at), header.size());
      } else {
        const auto end = std::min(header.find(';', at), header.size());
        value = trimmed(header.substr(at, end - at));
        at = end;
      }
    }
    if (ascii_lower(name) == wanted) return value;
  }
  return std::nullopt;
}

tl::unexpected<Error> broken(std::string what) {
  return fail(Fault::usage, "the form in the request's body is broken: " + std::move(what));
}

Result<FormPart> part_of(std::string_view head) {
  FormPart part;
  bool named = false;
  while (!head.empty()) {
    const auto end = std::min(head.find("\r\n"), head.size());
    const auto line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return broken("a part has a header without a colon");
    const auto value = trimmed(line.substr(colon + 1));
    if (ascii_lower(line.substr(0, colon)) == "content-type") part.type = value;
    if (ascii_lower(line.substr(0, colon)) != "content-disposition") continue;
    if (auto name = parameter(value, "name")) {
      part.name = std::move(*name);
      named = true;
    }
    part.filename = parameter(value, "filename");
  }
  if (!named) return broken("a part has no name");
  return part;
}

}  // namespace

Result<std::string> boundary_of(std::string_view content_type) {
  const auto type = trimmed(content_type.substr(0, std::min(content_type.find(';'), content_type.size())));
  if (ascii_lower(type) != "multipart/form-data")
    return fail(Fault::usage, "expected a body of multipart/form-data, found " +
                                  (type.empty() ? "none" : "'" + std::string(type) + "'"));
  auto boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kMostBoundary)
    return fail(Fault::usage, "multipart/form-data: expected a boundary of 1 to 70 characters in the Content-Type");
  return std::move(*boundary);
}

MultipartReader::MultipartReader(std::string_view boundary, FormSink& sink)
    : delimiter_("\r\n--" + std::string(boundary)), sink_(sink) {}

Result<void> MultipartReader::feed(std::string_view bytes) {
  if (phase_ == Phase::over) return {};  // the epilogue
  bytes_ += bytes;
  for (;;) {
    const auto more = TRY(advance());
    if (!more) return {};
  }
}

Result<void> MultipartReader::finish() const {
  if (phase_ == Phase::over) return {};
  return broken("it ends before its last boundary");
}

/// False: more bytes are needed, or it is over.
Result<bool> MultipartReader::advance() {
  switch (phase_) {
    case Phase::preamble: {
      const auto at = bytes_.find(delimiter_);
      if (at == std::string::npos) {
        bytes_.erase(0, bytes_.size() - std::min(bytes_.size(), delimiter_.size() - 1));
        return false;
      }
      bytes_.erase(0, at + delimiter_.size());
      phase_ = Phase::behind_delimiter;
      return true;
    }
    case Phase::behind_delimiter: return behind_delimiter();
    case Phase::head: return read_head();
    case Phase::content: return read_content();
    case Phase::over: bytes_.clear(); return false;
  }
  return false;
}

Result<bool> MultipartReader::behind_delimiter() {
  if (bytes_.size() < 2) return false;
  if (bytes_.starts_with("--")) {
    phase_ = Phase::over;
    return true;
  }
  const auto end = bytes_.find_first_not_of(" \t");
  if (end == std::string::npos || bytes_.size() < end + 2) {
    if (bytes_.size() > kMostHead) return broken("a boundary's line does not end");
    return false;
  }
  if (bytes_.compare(end, 2, "\r\n") != 0) return broken("a boundary is not alone on its line");
  if (++parts_ > kMostParts) return broken("it has more than " + std::to_string(kMostParts) + " parts");
  bytes_.erase(0, end);  // the line's end stays: a part may have no headers
  phase_ = Phase::head;
  return true;
}

Result<bool> MultipartReader::read_head() {
  const auto end = bytes_.find("\r\n\r\n");
  if (std::min(end, bytes_.size()) > kMostHead) return broken("a part's headers are too long");
  if (end == std::string::npos) return false;
  const auto part = TRY(part_of(std::string_view(bytes_).substr(0, end).substr(std::min<std::size_t>(2, end))));
  bytes_.erase(0, end + 4);
  TRY(sink_.begin(part));
  phase_ = Phase::content;
  return true;
}

Result<bool> MultipartReader::read_content() {
  const auto at = bytes_.find(delimiter_);
  const auto certain = at != std::string::npos ? at : bytes_.size() - std::min(bytes_.size(), delimiter_.size() - 1);
  if (certain > 0) TRY(sink_.take(std::string_view(bytes_).substr(0, certain)));
  bytes_.erase(0, certain);
  if (at == std::string::npos) return false;
  bytes_.erase(0, delimiter_.size());
  phase_ = Phase::behind_delimiter;
  TRY(sink_.end());
  return true;
}

}  // namespace tutti
