#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// The head of one part of a form.
struct FormPart {
  std::string name{};
  std::optional<std::string> filename{};  // a file part, if it has one
  std::string type{};                     // its Content-Type; empty: none was given
};

/// Takes the parts of a form, one after the other. An error ends the reading.
class FormSink {
 public:
  virtual ~FormSink() = default;
  virtual Result<void> begin(const FormPart& part) = 0;
  virtual Result<void> take(std::string_view bytes) = 0;
  virtual Result<void> end() = 0;
};

/// The boundary that a Content-Type of multipart/form-data names. Fault::usage names what was expected.
Result<std::string> boundary_of(std::string_view content_type);

/// Reads multipart/form-data (RFC 7578) as it comes, in pieces of any size, and holds no more than a part's head and a
/// delimiter. Fault::usage names what is wrong with a body.
class MultipartReader {
 public:
  static constexpr std::size_t kMostHead = 8192;
  static constexpr std::size_t kMostParts = 512;

  /// `sink` outlives it.
  MultipartReader(std::string_view boundary, FormSink& sink);

  Result<void> feed(std::string_view bytes);
  /// The body has ended: it must have ended with the closing delimiter.
  Result<void> finish() const;

 private:
  enum class Phase { preamble, behind_delimiter, head, content, over };

  Result<bool> advance();
  Result<bool> behind_delimiter();
  Result<bool> read_head();
  Result<bool> read_content();

  const std::string delimiter_;  // "\r\n--boundary"
  FormSink& sink_;
  Phase phase_ = Phase::preamble;
  std::string bytes_ = "\r\n";  // the first delimiter may have no line before it
  std::size_t parts_ = 0;
};

}  // namespace tutti
