#include "feed/source/line_index.h"
#include "feed/source/table.h"

namespace tutti {
namespace {

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
    const bool has_name = sample.id.ends_with(".wav") || sample.id.ends_with(".flac");
    sample.audio = folder_ / (has_name ? sample.id : sample.id + ".wav");
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
