#include "train/report/growing_file.h"

#include <fcntl.h>

#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace tutti {

Result<GrowingFile> GrowingFile::open(const std::filesystem::path& path) {
  OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file) return fail_errno(path.string(), "could not be opened");
  return GrowingFile(std::move(file), path.string());
}

void GrowingFile::add(std::string_view bytes) {
  const auto written = write_all(file_.get(), std::as_bytes(std::span(bytes)), name_);
  if (written || complained_) return;
  complained_ = true;
  log(Level::warning, written.error().text());
}

}  // namespace tutti
