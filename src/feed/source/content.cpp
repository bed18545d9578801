#include "feed/source/content.h"

#include <bit>
#include <filesystem>

#include "base/files.h"
#include "base/random/counter_random.h"

namespace tutti {
namespace {

std::uint64_t bits_of(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code missing;
  return path.empty() ? 0 : static_cast<std::uint64_t>(std::filesystem::file_size(path, missing));  // -1: not there
}

std::uint64_t text_of(const DatasetLine& line) {
  if (!line.text.empty() || line.is_noise || line.times.empty()) return digest(line.text);
  return digest(read_file(line.times).value_or(""));
}

std::uint64_t content_of(const DatasetLine& line) {
  return mixed({digest(line.id), text_of(line), static_cast<std::uint64_t>(line.is_noise),
                bits_of(line.start.value_or(-1)), bits_of(line.end.value_or(-1)),
                line.member ? static_cast<std::uint64_t>(line.member->size()) : size_of(line.audio),
                size_of(line.times)});
}

}  // namespace

std::uint64_t content_of(const Dataset& set, std::int64_t lines) {
  auto all = static_cast<std::uint64_t>(lines);
  for (std::int64_t i = 0; i < lines; ++i) {
    const auto line = set.at(i);
    all = mixed({all, line ? content_of(*line) : digest(set.id(i))});
  }
  return all;
}

}  // namespace tutti
