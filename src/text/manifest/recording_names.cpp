#include "text/manifest/recording_names.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 51> kEndings{
    ".wav", ".flac", ".mp3", ".ogg",  ".opus", ".m4a", ".aac",  ".mp4", ".mkv", ".webm", ".aiff", ".aif", ".wma",
    ".oga", ".au",   ".caf", ".w64",  ".rf64", ".amr", ".m4b",  ".mka", ".mp2", ".ac3",  ".avi",  ".mov", ".flv",
    ".m4v", ".3gp",  ".wmv", ".mpg",  ".mpeg", ".mts", ".m2ts", ".ogv", ".wv",  ".ape",  ".asf",  ".ts",  ".vob",
    ".dts", ".tta",  ".spx", ".aifc", ".mpga", ".3ga", ".m4r",  ".voc", ".gsm", ".mxf",  ".snd",  ".mpa"};

}  // namespace

std::span<const std::string_view> recording_endings() {
  return kEndings;
}

bool is_recording(const std::filesystem::path& path) {
  return std::ranges::find(kEndings, ascii_lower(path.extension().string())) != kEndings.end();
}

}  // namespace tutti
