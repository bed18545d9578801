#include "feed/stages/sound_files.h"

#include <fcntl.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "audio/length/sound_length.h"
#include "base/files.h"
#include "base/log.h"
#include "base/system_error.h"

namespace tutti {
namespace {

/// What is smaller is read with one call, and no later step waits for its disk.
constexpr std::uintmax_t kLarge = 8 << 20;

}  // namespace

Result<OpenSound> open_sound(const std::filesystem::path& path) {
  OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail_errno(path.string(), "cannot be opened");
  auto bytes = FileBytes::over(file.get());
  if (!bytes) return tl::unexpected(bytes.error());
  return OpenSound{std::move(file), *bytes};
}

bool is_large(const std::filesystem::path& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return !failed && size > kLarge;
}

Result<double> seconds_of(const std::filesystem::path& path, Seconds window) {
  auto file = open_sound(path);
  if (!file) return tl::unexpected(file.error());
  HeadBytes bytes(file->bytes);
  const auto facts = clip_facts(bytes);
  if (facts) return facts->length().count();
  if (facts.error().fault != Fault::unsupported) return tl::unexpected(facts.error());
  if (const auto length = sound_length(bytes)) return length->count();
  constexpr double kBytesPerSecond = 12'000;  // of a lossy codec at 96 kbit/s
  return std::min(static_cast<double>(bytes.size()) / kBytesPerSecond, window.count());
}

Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path) {
  auto file = open_sound(path);
  if (!file) return tl::unexpected(file.error());
  std::vector<std::byte> bytes(static_cast<std::size_t>(file->bytes.size()));
  for (std::size_t done = 0; done < bytes.size();) {
    const auto got = file->bytes.read_at(static_cast<std::int64_t>(done), std::span(bytes).subspan(done));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return fail(Fault::corrupt, path.string() + ": became shorter while it was read");
    done += *got;
  }
  return bytes;
}

Result<Recording> ChildDecoder::recording_of(const std::filesystem::path& path) const {
  {
    const std::shared_lock together(room_);
    auto recording = decode_recording(path);
    if (recording || recording.error().fault != Fault::unavailable) return recording;
    log(Level::warning, recording.error().what + "; it is decoded once more, by itself");
  }
  const std::unique_lock alone(room_);
  return decode_recording(path);
}

Result<NativeClip> ChildDecoder::decode(const std::filesystem::path& path, const ClipRange& range) const {
  // Asked for beforehand: whatever is wrong with the place for it is no fault of the file.
  if (const auto place = open_unnamed_file(); !place)
    return fail(Fault::missing, place.error().what, place.error().hint);
  const auto recording = recording_of(path);
  if (!recording) return tl::unexpected(recording.error());
  if (!recording->losses().empty()) return fail(Fault::corrupt, recording->losses().front());
  const std::int64_t all = recording->samples();
  if (auto within = check_range(range, length_of(all, kModelRate)); !within) return tl::unexpected(within.error());
  const auto first = std::min(samples_in(range.start.value_or(Seconds(0)), kModelRate), all);
  const auto last = range.end ? std::clamp(samples_in(*range.end, kModelRate), first, all) : all;
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(last - first));
  if (auto read = recording->read(first, pcm); !read) return tl::unexpected(read.error());
  return native_clip(std::move(pcm));
}

}  // namespace tutti
