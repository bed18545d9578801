#include "feed/voice/voice_set.h"

#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> damaged(const std::string& what) {
  return fail(Fault::corrupt, what, "Make the set again with 'tutti prepare tts'");
}

template <class Number>
std::span<const Number> numbers(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string show_voice_format(const VoiceFormat& format) {
  const auto& mel = format.mel;
  return json_line(nlohmann::ordered_json{{"rate", mel.rate.value},
                                          {"n_fft", mel.n_fft},
                                          {"window", mel.window},
                                          {"hop", mel.hop},
                                          {"n_mels", mel.n_mels},
                                          {"lowest_hz", mel.lowest},
                                          {"highest_hz", mel.top()},
                                          {"mean", format.mean},
                                          {"deviation", format.deviation},
                                          {"pitch_mean", format.pitch_mean},
                                          {"pitch_deviation", format.pitch_deviation},
                                          {"symbols", format.symbols},
                                          {"speakers", format.speakers},
                                          {"language", format.language},
                                          {"kind", format.kind},
                                          {"label", format.label}});
}

Result<VoiceFormat> read_voice_format(std::string_view json) {
  VoiceFormat format;
  try {
    const auto read = nlohmann::ordered_json::parse(json.begin(), json.end());
    auto& mel = format.mel;
    read.at("rate").get_to(mel.rate.value);
    read.at("n_fft").get_to(mel.n_fft);
    read.at("window").get_to(mel.window);
    read.at("hop").get_to(mel.hop);
    read.at("n_mels").get_to(mel.n_mels);
    read.at("lowest_hz").get_to(mel.lowest);
    read.at("highest_hz").get_to(mel.highest);
    read.at("mean").get_to(format.mean);
    read.at("deviation").get_to(format.deviation);
    read.at("pitch_mean").get_to(format.pitch_mean);
    read.at("pitch_deviation").get_to(format.pitch_deviation);
    read.at("symbols").get_to(format.symbols);
    read.at("speakers").get_to(format.speakers);
    read.at("language").get_to(format.language);
    read.at("kind").get_to(format.kind);
    read.at("label").get_to(format.label);
  } catch (const nlohmann::json::exception& problem) {
    return fail(Fault::corrupt, std::string("its format cannot be read: ") + problem.what());
  }
  if (auto valid = check(format.mel); !valid) return fail(Fault::corrupt, valid.error().what);
  if (std::ssize(format.mean) != format.mel.n_mels)
    return fail(Fault::corrupt, "expected a mean for each of " + std::to_string(format.mel.n_mels) + " bins, found " +
                                    std::to_string(format.mean.size()));
  return format;
}

std::vector<std::int64_t> spread_evenly(std::span<const std::int64_t> clips, std::size_t most) {
  std::vector<std::int64_t> chosen;
  const auto count = std::min(clips.size(), most);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(clips[i * clips.size() / count]);
  return chosen;
}

Result<std::shared_ptr<VoiceSet>> VoiceSet::open(const fs::path& path) {
  std::error_code ignored;
  const fs::path file = fs::is_directory(path, ignored) ? path / kVoiceSetFile : path;
  auto opened = TRY(open_set_file<VoiceHead>(
      file, "the set of a voice", "Make it with 'tutti prepare tts --data DIR --out " + path.string() + "'"));
  std::shared_ptr<VoiceSet> set(new VoiceSet(std::move(opened)));
  auto read = set->read_format();
  if (read) read = set->check_clips();
  if (!read) return fail_in(file.string(), read.error());
  return set;
}

VoiceSet::VoiceSet(SetFile<VoiceHead> opened) : file_(std::move(opened.file)), head_(opened.head) {
  entries_ =
      numbers<VoiceEntry>(file_.bytes(head_.index_at, head_.clips * static_cast<std::int64_t>(sizeof(VoiceEntry))));
  front_end_ = text_of(file_.bytes(head_.front_end_at, head_.front_end_size));
  for (std::int64_t i = 0; i < size(); ++i)
    (entries_[static_cast<std::size_t>(i)].part == VoicePart::training ? training_ : validation_).push_back(i);
}

Result<void> VoiceSet::read_format() {
  auto read = read_voice_format(text_of(file_.bytes(head_.format_at, head_.format_size)));
  if (!read) return damaged(read.error().what);
  format_ = std::move(*read);
  return {};
}

Result<void> VoiceSet::check_clips() const {
  for (std::int64_t i = 0; i < size(); ++i) {
    const auto& entry = entries_[static_cast<std::size_t>(i)];
    const auto record = file_.bytes(entry.at, record_size(entry, format_.mel.n_mels));
    const bool is_whole = !record.empty() && checksum(record) == entry.check;
    if (!is_whole) return damaged("clip " + std::to_string(i) + " of " + std::to_string(size()) + " is damaged");
  }
  return {};
}

VoiceClip VoiceSet::clip(std::int64_t index) const {
  const auto& entry = entries_[static_cast<std::size_t>(index)];
  auto rest = file_.bytes(entry.at, record_size(entry, format_.mel.n_mels));
  const auto take = [&rest](std::int64_t size) {
    const auto part = rest.first(static_cast<std::size_t>(size));
    rest = rest.subspan(part.size());
    return part;
  };
  constexpr std::int64_t kNumber = 4;
  VoiceClip clip{.frames = entry.frames, .speaker = entry.speaker};
  clip.symbols = numbers<std::int32_t>(take(kNumber * entry.symbols));
  clip.mel = numbers<float>(take(kNumber * entry.frames * format_.mel.n_mels));
  clip.pitch = numbers<float>(take(kNumber * entry.frames));
  clip.energy = numbers<float>(take(kNumber * entry.frames));
  clip.name = text_of(take(entry.name_size));
  clip.text = text_of(take(entry.text_size));
  return clip;
}

std::string VoiceSet::minutes(std::span<const std::int64_t> clips) const {
  std::int64_t all = 0;
  for (const auto clip : clips) all += frames(clip);
  return fixed_text(static_cast<double>(all * format_.mel.hop) / format_.mel.rate.value / 60, 1);
}

}  // namespace tutti
