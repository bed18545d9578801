#include "feed/voice/voice_waveforms.h"

#include <cstddef>
#include <string>

#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/voice/voice_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMakeAgain = "Make the set again with 'tutti prepare tts --waveforms'";

}  // namespace

Result<VoiceWaveforms> VoiceWaveforms::open(const fs::path& folder, const VoiceSet& set) {
  std::error_code ignored;
  const fs::path path = (fs::is_directory(folder, ignored) ? folder : folder_of(folder)) / kVoiceWaveformFile;
  auto [file, head, index] = TRY(open_set_file<WaveformHead>(path, "the waveforms of the set", kMakeAgain));
  if (head.set != set.fingerprint() || head.clips != set.size())
    return fail(Fault::usage, path.string() + ": its waveforms are not those that the set beside it was made of",
                kMakeAgain);
  VoiceWaveforms waveforms(
      path, std::move(file),
      {reinterpret_cast<const WaveformEntry*>(index.data()), static_cast<std::size_t>(head.clips)});
  const int hop = set.format().mel.hop;
  for (std::int64_t i = 0; i < set.size(); ++i)
    if (waveforms.samples(i) / hop != set.frames(i))
      return fail(Fault::corrupt,
                  path.string() + ": clip " + std::to_string(i) + " has " + std::to_string(waveforms.samples(i)) +
                      " samples, expected " + std::to_string(set.frames(i)) + " frames of " + std::to_string(hop),
                  kMakeAgain);
  return waveforms;
}

Result<std::span<const float>> VoiceWaveforms::clip(std::int64_t index) const {
  const auto& entry = entries_[static_cast<std::size_t>(index)];
  const auto record = file_.bytes(entry.at, entry.samples * static_cast<std::int64_t>(sizeof(float)));
  if ((record.empty() && entry.samples > 0) || checksum(record) != entry.check)
    return fail(Fault::corrupt, path_.string() + ": the waveform of clip " + std::to_string(index) + " is damaged",
                kMakeAgain);
  return std::span(reinterpret_cast<const float*>(record.data()), static_cast<std::size_t>(entry.samples));
}

Result<VoiceWaveformWriter> VoiceWaveformWriter::create(const fs::path& folder) {
  auto file = TRY(SetFileWriter::open({.whole = folder / kVoiceWaveformFile,
                                       .half = folder / kHalfVoiceWaveformFile,
                                       .head = sizeof(WaveformHead),
                                       .alignment = kVoiceAlignment}));
  return VoiceWaveformWriter(std::move(file));
}

Result<void> VoiceWaveformWriter::append(std::span<const float> samples) {
  const auto record = std::as_bytes(samples);
  const auto at = TRY(file_->append(record));
  entries_.push_back({.at = at, .samples = std::ssize(samples), .check = checksum(record)});
  return {};
}

Result<void> VoiceWaveformWriter::publish(std::uint64_t set) {
  WaveformHead head{.clips = std::ssize(entries_), .set = set};
  TRY(file_->finish(head, std::as_bytes(std::span(entries_))));
  return file_->publish();
}

}  // namespace tutti
