#include <algorithm>
#include <system_error>

#include "base/field_names.h"
#include "base/try.h"
#include "review/recording_index.h"
#include "review/review.h"

namespace tutti {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> find_transcripts(const std::vector<std::string>& names) {
  std::vector<fs::path> found;
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      found.emplace_back(name);
      continue;
    }
    const auto before = static_cast<std::ptrdiff_t>(found.size());
    for (fs::recursive_directory_iterator at(name, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error))
      if (at->is_regular_file(error) && at->path().extension() == ".json") found.push_back(at->path());
    if (found.size() == static_cast<std::size_t>(before))
      return fail(Fault::missing, name + ": expected JSON transcripts in it, found none");
    std::sort(found.begin() + before, found.end());
  }
  return found;
}

std::vector<ReviewInput> review_inputs(const std::vector<fs::path>& transcripts, const fs::path& audio_root) {
  const RecordingIndex index(audio_root);
  std::vector<ReviewInput> inputs;
  for (const fs::path& transcript : transcripts)
    inputs.push_back({.transcript = transcript, .recording = index.recording_of(transcript).value_or(fs::path())});
  return inputs;
}

Result<OutputOwnership> claim_review_pages(const std::vector<ReviewInput>& inputs, const fs::path& out) {
  OutputOwnership files("Name another folder with " + field("out"));
  for (const ReviewInput& input : inputs) {
    files.add_input(input.transcript);
    files.add_input(input.recording);
  }
  for (const char* name : kReviewPages) {
    TRY(files.claim(out / name, "review"));
  }
  return files;
}

}  // namespace tutti
