#include <optional>
#include <string_view>

#include "base/strings.h"
#include "feed/source/csv_dataset.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// `stem` with the first of the known endings, in lower or upper case, under which there is a file.
std::optional<fs::path> with_known_ending(const fs::path& stem) {
  for (const bool in_capitals : {false, true})
    for (const std::string_view ending : recording_endings()) {
      fs::path audio = stem;
      audio += in_capitals ? ascii_upper(ending) : std::string(ending);
      if (is_file(audio)) return audio;
    }
  return std::nullopt;
}

/// The recording that an id names: with its ending or without, and where that file was converted, under its new ending.
Result<fs::path> find_audio(const fs::path& named) {
  if (is_recording(named) && is_file(named)) return named;
  auto audio = with_known_ending(named);
  if (!audio && is_recording(named)) audio = with_known_ending(fs::path(named).replace_extension());
  if (audio) return *audio;
  return fail(Fault::missing, named.string() + ": no recording of this name, with .wav, .flac or another known ending",
              "Put it there, or take its line out of the list");
}

class LjSpeech final : public Dataset {
 public:
  LjSpeech(LineIndex lines, std::filesystem::path folder) : lines_(std::move(lines)), folder_(std::move(folder)) {}

  std::int64_t size() const override { return lines_.size(); }
  std::uint64_t fingerprint() const override { return lines_.fingerprint(); }
  std::string id(std::int64_t index) const override {
    const std::string_view line = lines_.line(index);
    return std::string(line.substr(0, line.find('|')));
  }
  Result<DatasetLine> at(std::int64_t index) const override {
    // Split at the first and the last bar, as the corpora that have more of them mean it.
    const std::string_view line = lines_.line(index);
    const std::size_t first = line.find('|'), last = line.rfind('|');
    if (first == std::string_view::npos)
      return fail(Fault::corrupt,
                  "expected id|text or id|text|normalised text, found '" + std::string(line.substr(0, 120)) + "'");
    DatasetLine sample;
    sample.id = line.substr(0, first);
    sample.text = line.substr(last + 1);
    if (sample.text.empty() && last > first) sample.text = line.substr(first + 1, last - first - 1);
    auto audio = find_audio(folder_ / sample.id);
    if (!audio) return tl::unexpected(audio.error());
    sample.audio = std::move(*audio);
    return sample;
  }

 private:
  LineIndex lines_;
  std::filesystem::path folder_;
};

bool is_header(std::string_view line) {
  return line.starts_with("id|") || line.starts_with("fileid|") || line.starts_with("wav_id|");
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_ljspeech(const std::filesystem::path& index) {
  auto lines = LineIndex::open(index);
  if (!lines) return tl::unexpected(lines.error());
  if (lines->size() > 0 && is_header(lines->line(0))) lines->skip_first();
  return std::make_unique<LjSpeech>(std::move(*lines), index.parent_path() / "wavs");
}

}  // namespace tutti
