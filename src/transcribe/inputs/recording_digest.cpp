#include "transcribe/inputs/recording_digest.h"

#include <fcntl.h>

#include <span>
#include <vector>

#include "audio/byte_source.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"

namespace tutti {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;

}  // namespace

// Read, not mapped: a recording that is cut short or cannot be read meanwhile is an error, and no signal that kills us.
Result<std::string> sha256_of_recording(const std::filesystem::path& path, const std::atomic<bool>& aborted) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait
  if (!file) return fail_errno(path.string(), "cannot be opened");
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))  // the line of a list, say
    return fail(Fault::usage, path.string() + ": expected a recording, found a folder",
                "Name the recordings in it, or the folder as an argument of its own");
  if (std::error_code ignored; std::filesystem::is_other(path, ignored))  // it would be read away, or wait without end
    return fail(Fault::usage, path.string() + ": expected a recording, found a pipe, a socket or a device",
                "Write what it carries into a file first, or name it to 'tutti transcribe'");
  auto bytes = FileBytes::over(file.get());
  if (!bytes) return fail_in(path.string(), bytes.error());
  Sha256 sum;
  std::vector<std::byte> block(kReadAtOnce);
  for (std::int64_t at = 0; !aborted;) {
    const auto got = bytes->read_at(at, block);
    if (!got) return fail_in(path.string(), got.error());
    if (*got == 0) return sum.hex();
    sum.update(std::span(block).first(*got));
    at += static_cast<std::int64_t>(*got);
  }
  return fail(Fault::cancelled, path.string() + ": reading was stopped");
}

}  // namespace tutti
