#include <fcntl.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file_lock.h"
#include "base/files.h"
#include "base/try.h"
#include "transcribe/speakers/recording_speakers.h"

namespace tutti {
namespace {

/// What a file of voices has in its first bytes: how a later run knows it again.
constexpr const char* kVoicesMark = "tutti-voices";

/// What is in the file; without one, no recordings. Fault::usage where something else is in it.
Result<nlohmann::ordered_json> voices_in(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return nlohmann::ordered_json{{"kind", kVoicesMark}, {"recordings", nlohmann::ordered_json::object()}};
  const auto text = TRY(read_regular_file(file));
  auto there = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool is_ours = there.is_object() && there.value("kind", "") == kVoicesMark && there.contains("recordings") &&
                       there["recordings"].is_object();
  if (is_ours) return there;
  return fail(Fault::usage, file.string() + ": a file of another kind is there, which is not replaced",
              "Name another file");
}

/// Its lock: the file is replaced at each write, so it is that of its folder.
Result<OwnedFd> open_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = folder_of(file);
  OwnedFd held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held) return fail_errno(folder.string(), "could not be opened");
  return held;
}

}  // namespace

Result<void> expect_voices_file(const std::filesystem::path& file) {
  TRY(open_folder_of(file));
  return voices_in(file).map([](const auto&) {});
}

Result<void> save_voices(const std::filesystem::path& file, const std::string& recording, const FoundSpeakers& found) {
  const auto folder = TRY(open_folder_of(file));
  if (auto locked = lock_file(folder.get(), folder_of(file).string(), "Name a file on a local disk"); !locked)
    return locked;
  auto there = TRY(voices_in(file));
  auto& voices = there;
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
