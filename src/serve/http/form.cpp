#include "serve/http/form.h"

#include <algorithm>
#include <span>

#include "base/files.h"

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

Result<void> FormReader::begin(const FormPart& part) {
  in_file_ = part.name == "file";
  if (!in_file_) {
    form_.fields.emplace_back(part.name, "");
    return {};
  }
  if (form_.upload) return fail(Fault::usage, "file: expected one recording, found several");
  auto file = open_();
  if (!file) return tl::unexpected(file.error());
  form_.upload = Upload{.file = std::move(*file), .name = plain_name(part.filename.value_or("")), .size = 0};
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
