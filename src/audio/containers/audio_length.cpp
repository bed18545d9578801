#include "audio/containers/audio_length.h"

#include <fcntl.h>

#include <array>
#include <cmath>

#include "audio/joined.h"
#include "base/error.h"
#include "base/owned.h"

namespace tutti {

namespace {

std::optional<Seconds> length_of_one(ByteSource& bytes) {
  constexpr double kLongest = 1000 * 3600;  // the longest plausible length; beyond it a header is damaged
  constexpr std::array kFamilies{chunked_length, mp4_length, ogg_length, matroska_length, mp3_length};
  for (const auto family : kFamilies) {
    const auto length = family(bytes);
    if (length && std::isfinite(length->count()) && length->count() > 0 && length->count() < kLongest) return length;
  }
  return {};
}

}  // namespace

std::optional<Seconds> audio_length(ByteSource& bytes) {
  constexpr int kMostRecordings = 1000;  // behind one another
  Seconds all{0};
  std::int64_t begin = 0;
  for (int count = 0; count < kMostRecordings && begin < bytes.size(); ++count) {
    PartBytes rest(bytes, begin, bytes.size());
    const std::int64_t end = begin + first_recording(rest, false).next;
    PartBytes one(bytes, begin, end);
    const auto length = length_of_one(one);
    if (!length) return {};
    all += *length;
    begin = end;
  }
  return begin > 0 && begin >= bytes.size() ? std::optional(all) : std::nullopt;
}

Result<std::optional<Seconds>> audio_length(const std::filesystem::path& path) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait
  if (!file) return fail_errno(path.string(), "cannot be opened");
  auto bytes = FileBytes::over(file.get());
  if (!bytes) return fail_in(path.string(), bytes.error());
  return audio_length(*bytes);
}

}  // namespace tutti
