#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/owned.h"
#include "serve/http/http.h"
#include "serve/http/multipart.h"
#include "serve/openai/api_error.h"

namespace tutti {

/// A file that a client has sent: on disk and without a name, so that it goes with its last descriptor, whatever kills
/// us.
struct Upload {
  OwnedFd file{};
  std::string name{};  // as the client calls it, without folders
  std::uint64_t size = 0;
};

struct Form {
  std::vector<std::pair<std::string, std::string>> fields{};  // in the order in which they came
  std::optional<Upload> upload{};
};

struct FormLimits {
  std::uint64_t file_bytes = std::uint64_t{2} << 30;
  std::size_t field_bytes = std::size_t{4} << 20;  // of all fields together: clips of known speakers are fields
};

/// What is wrong with a form before any of its body is read: 413, it has more bytes than a recording of `most_bytes`
/// and its fields can have; 503, the disk of `folder` has no space for it.
std::optional<ApiError> refused_upload(const HttpHead& head, std::uint64_t most_bytes,
                                       const std::filesystem::path& folder);

/// Gathers a form: its part named "file" goes to disk as it comes, the others into memory. Fault::refused: more than
/// the limits allow; Fault::full: the disk has no space.
class FormReader final : public FormSink {
 public:
  /// Opens the file that an upload goes to.
  using OpenFile = std::function<Result<OwnedFd>()>;
  explicit FormReader(FormLimits limits, OpenFile open = open_unnamed_file) : limits_(limits), open_(std::move(open)) {}

  Result<void> begin(const FormPart& part) override;
  Result<void> take(std::string_view bytes) override;
  Result<void> end() override { return {}; }

  /// What has come by now: the last field, or the file, may still grow.
  const Form& so_far() const { return form_; }
  /// The whole form, once.
  Form release() { return std::move(form_); }

 private:
  const FormLimits limits_;
  const OpenFile open_;
  Form form_{};
  bool in_file_ = false;
  std::size_t field_bytes_ = 0;
};

}  // namespace tutti
