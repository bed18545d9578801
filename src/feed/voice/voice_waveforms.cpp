#include "feed/voice/voice_waveforms.h"

#include <cstddef>
#include <cstring>
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
  auto mapped = MappedFile::open(path);
  if (!mapped && mapped.error().fault == Fault::missing)
    return fail(Fault::missing, path.string() + ": the set has no waveforms", kMakeAgain);
  if (!mapped) return tl::unexpected<Error>(mapped.error());
  VoiceWaveforms waveforms(path, std::move(*mapped));
  if (auto read = waveforms.read_index(set); !read) return fail_in(path.string(), read.error());
  return waveforms;
}

Result<void> VoiceWaveforms::read_index(const VoiceSet& set) {
  const auto damaged = [](const std::string& what) { return fail(Fault::corrupt, what, kMakeAgain); };
  WaveformHead head;
  const auto first = file_.bytes(0, sizeof head);
  if (first.empty())
    return damaged("expected waveforms of a voice, found " + std::to_string(file_.bytes().size()) + " bytes");
  std::memcpy(&head, first.data(), sizeof head);
  if (head.magic != WaveformHead::kMagic) return damaged("expected waveforms of a voice, found a file of another kind");
  if (head.head_check != check_of_head(head)) return damaged("its head is damaged");
  if (head.set != set.fingerprint() || head.clips != set.size())
    return fail(Fault::usage, "its waveforms are not those that the set beside it was made of", kMakeAgain);
  constexpr std::int64_t kEntry = sizeof(WaveformEntry);
  const auto index = file_.bytes(head.index_at, head.clips * kEntry);
  if ((index.empty() && head.clips > 0) || checksum(index) != head.index_check) return damaged("its index is damaged");
  entries_ = {reinterpret_cast<const WaveformEntry*>(index.data()), static_cast<std::size_t>(head.clips)};
  for (std::int64_t i = 0; i < head.clips; ++i)
    if (samples(i) / set.format().mel.hop != set.frames(i))
      return damaged("clip " + std::to_string(i) + " has " + std::to_string(samples(i)) + " samples, expected " +
                     std::to_string(set.frames(i)) + " frames of " + std::to_string(set.format().mel.hop));
  return {};
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
