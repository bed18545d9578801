#include <fcntl.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file_lock.h"
#include "base/files.h"
#include "transcribe/speakers/recording_speakers.h"

namespace tutti {
namespace {

/// What a file of voices has in its first bytes: how a later run knows it again.
constexpr const char* kVoicesMark = "tutti-voices";

}  // namespace

Result<void> save_voices(const std::filesystem::path& file, const std::string& recording, const FoundSpeakers& found) {
  // The file is replaced at each write: what is locked is its folder.
  const std::filesystem::path folder = folder_of(file);
  const OwnedFd held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held) return fail_errno(folder.string(), "could not be opened");
  if (auto locked = lock_file(held.get(), folder.string(), "Name a file on a local disk"); !locked) return locked;
  nlohmann::ordered_json voices{{"kind", kVoicesMark}, {"recordings", nlohmann::ordered_json::object()}};
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    const auto text = read_regular_file(file);
    if (!text) return tl::unexpected(text.error());
    const auto there = nlohmann::ordered_json::parse(*text, nullptr, /*allow_exceptions=*/false);
    const bool is_ours = there.is_object() && there.value("kind", "") == kVoicesMark && there.contains("recordings") &&
                         there["recordings"].is_object();
    if (!is_ours)
      return fail(Fault::usage, file.string() + ": a file of another kind is there, which is not replaced",
                  "Name another file");
    voices = there;
  }
  auto& own = voices["recordings"][recording] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < found.voices.size() && i < found.speakers.size(); ++i) {
    const auto voice = found.voices[i];
    own[found.speakers[i].speaker] = std::vector<float>(voice.begin(), voice.end());
  }
  return write_file_atomically(file, voices.dump() + "\n");
}

std::string speaker_count_text(std::size_t count) {
  if (count == 0) return "no speaker";
  return count == 1 ? "1 speaker" : std::to_string(count) + " speakers";
}

}  // namespace tutti
