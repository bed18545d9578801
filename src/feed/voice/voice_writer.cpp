#include "feed/voice/voice_writer.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/files.h"
#include "base/try.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

template <class Number>
void append_numbers(std::string& bytes, const std::vector<Number>& numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

void expect_agreeing_sizes(const NewVoiceClip& clip, std::size_t n_mels) {
  const std::size_t frames = clip.pitch.size();
  if (frames == 0 || clip.mel.size() != frames * n_mels || clip.energy.size() != frames || clip.symbols.empty() ||
      clip.symbols.size() > frames)
    throw std::invalid_argument("clip of a voice: expected a frame at least for every symbol, and equal lengths");
}

std::string bytes_of(const NewVoiceClip& clip) {
  std::string bytes;
  append_numbers(bytes, clip.symbols);
  append_numbers(bytes, clip.mel);
  append_numbers(bytes, clip.pitch);
  append_numbers(bytes, clip.energy);
  return bytes + clip.name + clip.text;
}

double deviation_of(double sum, double squares, double count) {
  return std::sqrt(std::max(squares / count - sum / count * (sum / count), 0.0));
}

}  // namespace

Result<std::unique_ptr<VoiceSetWriter>> VoiceSetWriter::create(const fs::path& folder, const VoiceMelOptions& mel,
                                                               bool waveforms) {
  TRY(make_folders(folder));
  const auto whole = folder / kVoiceSetFile;
  auto file = TRY(SetFileWriter::open(
      {.whole = whole,
       .half = folder / kHalfVoiceSetFile,
       .head = sizeof(VoiceHead),
       .alignment = kVoiceAlignment,
       .taken = Error{Fault::refused, folder.string() + ": another process is writing a set into this folder",
                      "Wait for it to end, or name another folder"}}));
  std::unique_ptr<VoiceSetWriter> writer(new VoiceSetWriter(std::move(file), whole.string(), mel));
  if (!waveforms) return writer;
  auto own = TRY(VoiceWaveformWriter::create(folder));
  writer->waveforms_.emplace(std::move(own));
  return writer;
}

/// A clip's own sums first, so that they do not depend on how long the set is.
void VoiceSetWriter::add_to_sums(std::span<const float> mel, std::span<const float> pitch, double sign) {
  const auto n_mels = static_cast<std::size_t>(mel_.n_mels);
  sums_.values.resize(n_mels);
  sums_.squares.resize(n_mels);
  std::vector<double> values(n_mels), squares(n_mels);
  for (std::size_t frame = 0; frame < mel.size(); frame += n_mels)
    for (std::size_t bin = 0; bin < n_mels; ++bin) {
      const double value = mel[frame + bin];
      values[bin] += value;
      squares[bin] += value * value;
    }
  double heights = 0, square_heights = 0;
  std::int64_t voiced = 0;
  for (const float hertz : pitch) {
    if (hertz <= 0) continue;
    const double height = std::log(static_cast<double>(hertz));
    heights += height;
    square_heights += height * height;
    ++voiced;
  }
  for (std::size_t bin = 0; bin < n_mels; ++bin) {
    sums_.values[bin] += sign * values[bin];
    sums_.squares[bin] += sign * squares[bin];
  }
  sums_.pitch += sign * heights;
  sums_.pitch_squares += sign * square_heights;
  const std::int64_t direction = sign > 0 ? 1 : -1;
  sums_.voiced += direction * voiced;
  sums_.frames += direction * std::ssize(pitch);
}

Result<void> VoiceSetWriter::append(const NewVoiceClip& clip) {
  expect_agreeing_sizes(clip, static_cast<std::size_t>(mel_.n_mels));
  const std::string record = bytes_of(clip);
  VoiceEntry entry{.check = checksum(std::as_bytes(std::span(record))),
                   .symbols = static_cast<std::int32_t>(clip.symbols.size()),
                   .frames = static_cast<std::int32_t>(clip.pitch.size()),
                   .speaker = clip.speaker,
                   .part = clip.part,
                   .name_size = static_cast<std::int32_t>(clip.name.size()),
                   .text_size = static_cast<std::int32_t>(clip.text.size())};
  entry.at = TRY(file_->append(std::as_bytes(std::span(record))));
  if (waveforms_) TRY(waveforms_->append(clip.audio));
  entries_.push_back(entry);
  if (clip.part == VoicePart::training) add_to_sums(clip.mel, clip.pitch, 1);
  return {};
}

Result<void> VoiceSetWriter::leave_out(std::span<const std::size_t> clips) {
  const auto n_mels = static_cast<std::size_t>(mel_.n_mels);
  for (const auto index : clips) {
    const auto& entry = entries_[index];
    if (entry.part != VoicePart::training) continue;
    const auto frames = static_cast<std::size_t>(entry.frames);
    std::vector<float> features(frames * (n_mels + 1));  // the spectrogram, then the pitch
    const auto bytes = std::as_writable_bytes(std::span(features));
    const auto at = entry.at + static_cast<std::int64_t>(sizeof(std::int32_t)) * entry.symbols;
    const auto read = TRY(read_at(file_->file(), bytes, at, name_));
    if (read != bytes.size()) return fail(Fault::corrupt, name_ + ": it became shorter while it was written");
    const auto all = std::span<const float>(features);
    add_to_sums(all.first(frames * n_mels), all.subspan(frames * n_mels), -1);
  }
  erase_at(entries_, clips);
  if (waveforms_) waveforms_->leave_out(clips);
  return {};
}

void VoiceSetWriter::set_means(VoiceFormat& format) const {
  const auto n_mels = static_cast<std::size_t>(mel_.n_mels);
  Sums all = sums_;
  all.values.resize(n_mels);  // without a clip to learn from there are none
  all.squares.resize(n_mels);
  const auto frames = static_cast<double>(std::max<std::int64_t>(all.frames, 1));
  format.mean.assign(n_mels, 0.0F);
  double variance = 0;
  for (std::size_t bin = 0; bin < n_mels; ++bin) {
    format.mean[bin] = static_cast<float>(all.values[bin] / frames);
    const double deviation = deviation_of(all.values[bin], all.squares[bin], frames);
    variance += deviation * deviation / static_cast<double>(n_mels);
  }
  constexpr double kLeastDeviation = 1e-3;  // deviation of a set without any audio in it
  format.deviation = static_cast<float>(std::max(std::sqrt(variance), kLeastDeviation));
  if (all.voiced == 0) return;
  const auto voiced = static_cast<double>(all.voiced);
  format.pitch_mean = all.pitch / voiced;
  format.pitch_deviation = std::max(deviation_of(all.pitch, all.pitch_squares, voiced), kLeastDeviation);
}

Result<void> VoiceSetWriter::publish(VoiceFormat format, const std::string& front_end) {
  format.mel = mel_;
  set_means(format);
  const std::string shown = show_voice_format(format);
  VoiceHead head{
      .clips = std::ssize(entries_), .format_size = std::ssize(shown), .front_end_size = std::ssize(front_end)};
  // One piece of bytes, so that one checksum covers it to the end of the file.
  std::string tail;
  append_numbers(tail, entries_);
  const auto add = [&](const std::string& bytes) {
    tail.resize(static_cast<std::size_t>(rounded_up(std::ssize(tail), kVoiceAlignment)));
    tail += bytes;
    return file_->end() + std::ssize(tail) - std::ssize(bytes);
  };
  head.format_at = add(shown);
  head.front_end_at = add(front_end);
  TRY(file_->finish(head, std::as_bytes(std::span(tail))));
  if (waveforms_) TRY(waveforms_->publish(head.index_check));
  return file_->publish();
}

}  // namespace tutti
