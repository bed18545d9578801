#include "feed/stages/audio_files.h"

#include <fcntl.h>

#include <algorithm>
#include <span>
#include <utility>

#include "audio/containers/audio_length.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/try.h"

namespace tutti {
namespace {

/// What is smaller is read with one call, and no later step waits for its disk.
constexpr std::uintmax_t kLarge = 8 << 20;

/// A child decodes files: the part of a tar as one.
Result<OwnedFd> unnamed_copy(const std::filesystem::path& path, const FileRange& member) {
  const auto bytes = TRY(read_bytes(path, member));
  auto file = open_unnamed_file();
  if (!file) return fail(Fault::missing, file.error().what, file.error().hint);
  TRY(write_all(file->get(), bytes, path.string()));
  return file;
}

/// The error with `path` where it names the copy.
Error named_otherwise(Error error, const std::string& copy, const std::string& path) {
  if (const auto at = error.what.find(copy); at != std::string::npos) error.what.replace(at, copy.size(), path);
  return error;
}

}  // namespace

Result<OpenAudio> open_audio(const std::filesystem::path& path) {
  OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would wait
  if (!file) return fail_errno(path.string(), "cannot be opened");
  if (std::error_code ignored; std::filesystem::is_other(path, ignored))
    return fail(Fault::corrupt, path.string() + ": expected a recording, found a pipe, a socket or a device");
  auto bytes = TRY(FileBytes::over(file.get()));
  return OpenAudio{std::move(file), bytes};
}

PartBytes bytes_of(OpenAudio& audio, const std::optional<FileRange>& member) {
  return PartBytes(audio.bytes, member ? member->begin : 0, member ? member->end : audio.bytes.size());
}

bool is_large(const std::filesystem::path& path, const std::optional<FileRange>& member) {
  if (member) return std::cmp_greater(member->size(), kLarge);
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return !failed && size > kLarge;
}

Result<double> seconds_of(const std::filesystem::path& path, Seconds window, const std::optional<FileRange>& member) {
  auto file = TRY(open_audio(path));
  auto whole = bytes_of(file, member);
  HeadBytes bytes(whole);
  const auto facts = clip_facts(bytes);
  if (facts) return facts->length().count();
  if (facts.error().fault != Fault::unsupported) return tl::unexpected(facts.error());
  if (const auto length = audio_length(bytes)) return length->count();
  constexpr double kBytesPerSecond = 12'000;  // data rate of a lossy codec at 96 kbit/s
  return std::min(static_cast<double>(bytes.size()) / kBytesPerSecond, window.count());
}

Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path, const std::optional<FileRange>& member) {
  auto file = TRY(open_audio(path));
  auto source = bytes_of(file, member);
  std::vector<std::byte> bytes(static_cast<std::size_t>(source.size()));
  for (std::size_t done = 0; done < bytes.size();) {
    const auto got = TRY(source.read_at(static_cast<std::int64_t>(done), std::span(bytes).subspan(done)));
    if (got == 0) return fail(Fault::corrupt, path.string() + ": became shorter while it was read");
    done += got;
  }
  return bytes;
}

/// The slot of one file among those at work; waited for, and released on every way out.
class ChildDecoder::ChildSlot {
 public:
  explicit ChildSlot(Guarded<Children>& children) : children_(children) {
    children_.wait([](const Children& it) { return it.again == 0; }, [](Children& it) { ++it.begun; });
  }
  ChildSlot(const ChildSlot&) = delete;
  ChildSlot& operator=(const ChildSlot&) = delete;
  ~ChildSlot() {
    children_.change([&](Children& it) {
      --it.begun;
      if (has_requested_) --it.again;
      if (is_alone_) it.has_one_alone = false;
    });
  }

  /// None is begun from now on: a file that waits for others to end might wait for ever where new ones were.
  void request_to_be_alone() {
    children_.change([](Children& it) { ++it.again; });
    has_requested_ = true;
  }
  void wait_to_be_alone() {
    children_.wait([](const Children& it) { return it.begun == it.again && !it.has_one_alone; },
                   [](Children& it) { it.has_one_alone = true; });
    is_alone_ = true;
  }

 private:
  Guarded<Children>& children_;
  bool has_requested_ = false;
  bool is_alone_ = false;
};

Result<Recording> ChildDecoder::decoded(const std::filesystem::path& path) const {
  ChildSlot slot(children_);
  auto recording = decode_recording(path);
  if (recording || recording.error().fault != Fault::unavailable) return recording;
  slot.request_to_be_alone();
  log(Level::warning, recording.error().what + "; it is decoded once more, by itself");
  slot.wait_to_be_alone();
  return decode_recording(path);
}

Result<Recording> ChildDecoder::recording(const std::filesystem::path& path) const {
  // Tried beforehand: whatever is wrong with the folder for it is no fault of the file.
  if (const auto slot = open_unnamed_file(); !slot) return fail(Fault::missing, slot.error().what, slot.error().hint);
  auto recording = decoded(path);
  if (recording && !recording->losses().empty()) return fail(Fault::corrupt, recording->losses().front());
  return recording;
}

Result<NativeClip> ChildDecoder::decode(const std::filesystem::path& path, const ClipRange& range,
                                        const std::optional<FileRange>& member) const {
  const auto own = TRY(member ? unnamed_copy(path, *member) : Result<OwnedFd>(OwnedFd()));
  const std::filesystem::path file = member ? path_of_descriptor(own.get()) : path;
  const auto recording = this->recording(file);
  if (!recording) return tl::unexpected(member ? named_otherwise(recording.error(), file, path) : recording.error());
  const std::int64_t all = recording->samples();
  TRY(check_range(range, length_of(all, kModelRate)));
  const auto first = std::min(samples_in(range.start.value_or(Seconds(0)), kModelRate), all);
  const auto last = range.end ? std::clamp(samples_in(*range.end, kModelRate), first, all) : all;
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(last - first));
  TRY(recording->read(first, pcm));
  return native_clip(std::move(pcm));
}

}  // namespace tutti
