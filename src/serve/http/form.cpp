#include "serve/http/form.h"

#include <algorithm>
#include <span>

#include "base/files.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {
namespace {

/// The last component, whatever the client's system separates them by; without control characters.
std::string plain_name(std::string name) {
  const auto slash = name.find_last_of("/\\");
  if (slash != std::string::npos) name.erase(0, slash + 1);
  std::erase_if(name, [](unsigned char c) { return c < ' ' || c == 127; });
  constexpr std::size_t kMostName = 200;
  name.resize(std::min(name.size(), kMostName));
  return name.empty() ? "the upload" : name;
}

}  // namespace

std::optional<ApiError> refused_upload(const HttpHead& head, std::uint64_t most_bytes,
                                       const std::filesystem::path& folder) {
  constexpr std::uint64_t kFormBytes = std::uint64_t{5} << 20;  // a form has more to it than its recording
  constexpr std::int64_t kSpareDisk = std::int64_t{64} << 20;   // that a disk keeps free
  const std::uint64_t length = head.length.value_or(0);
  if (length > most_bytes + kFormBytes)
    return ApiError{.status = 413,
                    .message = "file: the request has " + std::to_string(length) +
                               " bytes; this server takes recordings of " + std::to_string(most_bytes),
                    .param = "file"};
  const Bytes needed{static_cast<std::int64_t>(length) + kSpareDisk};
  const std::string what = "the upload of " + bytes_text({static_cast<std::int64_t>(length)}) + ", beside " +
                           bytes_text({kSpareDisk}) + " that stay free,";
  if (auto space = expect_space(folder, needed, what, "Try again later"); !space)
    return api_error_of(space.error(), "");
  return std::nullopt;
}

Result<void> FormReader::begin(const FormPart& part) {
  in_file_ = part.name == "file";
  if (!in_file_) {
    form_.fields.emplace_back(part.name, "");
    return {};
  }
  if (form_.upload) return fail(Fault::usage, "file: expected one recording, found several");
  auto file = TRY(open_());
  form_.upload = Upload{.file = std::move(file), .name = plain_name(part.filename.value_or("")), .size = 0};
  return {};
}

Result<void> FormReader::take(std::string_view bytes) {
  if (in_file_) {
    Upload& upload = *form_.upload;
    upload.size += bytes.size();
    if (upload.size > limits_.file_bytes)
      return fail(Fault::refused, "file: it is larger than the " + std::to_string(limits_.file_bytes) +
                                      " bytes that this server takes");
    return write_all(upload.file.get(), std::as_bytes(std::span(bytes)), upload.name);
  }
  field_bytes_ += bytes.size();
  if (field_bytes_ > limits_.field_bytes)
    return fail(Fault::refused, form_.fields.back().first + ": the form's fields are longer than the " +
                                    std::to_string(limits_.field_bytes) + " bytes that this server takes");
  form_.fields.back().second += bytes;
  return {};
}

}  // namespace tutti
