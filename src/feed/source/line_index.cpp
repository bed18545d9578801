#include "feed/source/line_index.h"

#include <algorithm>
#include <span>

#include "feed/cache/cache_key.h"
#include "feed/source/separated.h"
#include "text/byte_order_mark.h"

namespace tutti {
namespace {

constexpr std::int64_t kStride = 16;

}  // namespace

Result<LineIndex> LineIndex::open(const std::filesystem::path& path, std::optional<char> separator) {
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  LineIndex index(std::move(*file), separator);
  if (auto converted = utf8_of_utf16(index.file_.text()))
    index.converted_ = std::make_unique<const std::string>(std::move(*converted));
  if (index.text().find('"') == std::string_view::npos) index.separator_.reset();
  index.build();
  index.fingerprint_ = checksum(index.file_.bytes());
  return index;
}

void LineIndex::build() {
  const std::string_view text = this->text();
  std::size_t at = next_start(text.size() - without_mark(text).size());
  for (; at < text.size(); at = next_start(end_of(at))) {
    if (size_ % kStride == 0) starts_.push_back(at);
    ++size_;
  }
}

std::size_t LineIndex::end_of(std::size_t at) const {
  const std::string_view text = this->text();
  return separator_ ? separated_line_end(text, at, *separator_) : std::min(text.find('\n', at), text.size());
}

std::size_t LineIndex::next_start(std::size_t at) const {
  const std::string_view text = this->text();
  while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
  return at;
}

std::string_view LineIndex::line(std::int64_t index) const {
  index += skipped_;
  std::size_t at = starts_[static_cast<std::size_t>(index / kStride)];
  for (std::int64_t i = 0; i < index % kStride; ++i) at = next_start(end_of(at));
  std::string_view line = text().substr(at, end_of(at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace tutti
