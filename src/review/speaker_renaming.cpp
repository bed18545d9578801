#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/new_file.h"
#include "base/strings.h"
#include "base/try.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "review/review_pages.h"
#include "text/utf8.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// An output of the recording, and what it is to become.
struct Output {
  fs::path path{};
  Format format = Format::json;
  std::string content{};
  std::string renamed{};
  std::optional<JobOutput> recorded{};  // as the store has it, whose the file is
};

/// What the store knows of the recording's job.
struct KnownJob {
  std::unique_ptr<JobStore> store{};
  JobId id = 0;
  std::vector<JobOutput> outputs{};
  std::vector<KnownContent> written{};

  /// The record of the output with that public name, or beside a user's file of that name.
  std::optional<JobOutput> output_of(const fs::path& path) const {
    const auto found = std::ranges::find_if(
        outputs, [&](const JobOutput& output) { return output.path == path.string() || output.kept == path.string(); });
    return found == outputs.end() ? std::nullopt : std::optional(*found);
  }
};

Result<KnownJob> known_job(const fs::path& base, const StoreUrl& url) {
  KnownJob known;
  auto store = TRY(open_store_if_there(url));
  if (!store) return known;
  const auto job = TRY(store->find(base.string()));
  if (!job) return known;
  auto outputs = TRY(store->outputs(job->id));
  auto written = TRY(store->written(job->id));
  return KnownJob{
      .store = std::move(store), .id = job->id, .outputs = std::move(outputs), .written = std::move(written)};
}

/// Files that may be outputs of the recording, its transcript last.
std::vector<fs::path> candidates(const fs::path& transcript, const fs::path& base, const KnownJob& job) {
  std::vector<fs::path> paths;
  if (transcript != base)
    for (const Format format : {Format::txt, Format::vtt, Format::srt, Format::rttm})
      paths.push_back(base.string() + "." + std::string(extension(format)));
  for (const JobOutput& output : job.outputs)
    if (std::ranges::find(paths, fs::path(output.path)) == paths.end()) paths.emplace_back(output.path);
  std::erase(paths, transcript);
  paths.push_back(transcript);
  return paths;
}

/// None where there is nothing with an old name.
Result<std::optional<Output>> output_at(const fs::path& path, const SpeakerNames& names) {
  const auto formats = parse_formats(path.extension().string().substr(path.has_extension() ? 1 : 0));
  std::error_code ignored;
  if (!formats || formats->size() != 1 || !fs::is_regular_file(path, ignored)) return std::nullopt;
  auto content = TRY(read_regular_file(path));
  Output output{.path = path, .format = formats->front(), .content = std::move(content)};
  output.renamed = with_speaker_names(output.content, output.format, names);
  if (output.renamed == output.content) return std::nullopt;
  return output;
}

/// Whether Tutti wrote the file, and nothing has changed it since. Where the store has a record of it, that decides.
bool is_ours(Output& output, const KnownJob& job, const Transcript& transcript,
             const std::vector<std::string>& speakers) {
  std::error_code ignored;
  if (fs::is_symlink(output.path, ignored)) return false;
  output.recorded = job.output_of(output.path);
  if (!output.recorded) return is_own_output(output.content, output.format, transcript, speakers);
  return output.recorded->path == output.path.string() && occupant_of(output.path, job.written) == Occupant::known;
}

Result<void> write(const Output& output, const KnownJob& job) {
  if (output.recorded) return rewrite_output(*job.store, job.id, *output.recorded, output.renamed);
  return rewrite_file(output.path, output.renamed);
}

}  // namespace

Result<SpeakerNames> parse_speaker_names(const std::string& list) {
  SpeakerNames names;
  for (const std::string_view one : split(list, ',')) {
    const auto equals = one.find('=');
    if (equals == one.npos || equals == 0 || !is_speaker_name(one.substr(equals + 1)))
      return fail(Fault::usage,
                  field("names") + ": expected SPEAKER=NAME, found '" + without_controls(std::string(one)) + "'",
                  "As in " + field("names") + " SPEAKER_01=Anna");
    if (!names.emplace(one.substr(0, equals), one.substr(equals + 1)).second)
      return fail(Fault::usage, field("names") + ": " + std::string(one.substr(0, equals)) + " has two new names");
  }
  return names;
}

Result<RenamedOutputs> rename_speakers(const fs::path& transcript, const SpeakerNames& names, const StoreUrl& store) {
  const auto text = TRY(read_file(transcript));
  const auto read = read_transcript_json(text);
  if (!read) return fail_in(transcript.string(), read.error());
  auto speakers = speakers_of(*read);
  if (auto checked = check_speaker_names(names, speakers); !checked)
    return fail_in(transcript.string(), checked.error());
  for (const auto& [old, name] : names) speakers.push_back(name);  // which an earlier call may have written

  const fs::path whole = fs::absolute(transcript).lexically_normal();
  const fs::path base = whole.extension() == ".json" ? fs::path(whole).replace_extension() : whole;
  const auto job = TRY(known_job(base, store));
  RenamedOutputs done;
  std::vector<Output> outputs;
  for (const fs::path& path : candidates(whole, base, job)) {
    auto output = TRY(output_at(path, names));
    if (!output) continue;
    if (is_ours(*output, job, *read, speakers))
      outputs.push_back(std::move(*output));
    else
      done.left.push_back(path);
  }
  for (const Output& output : outputs) {
    TRY(write(output, job));
    done.renamed.push_back(output.path);
  }
  return done;
}

}  // namespace tutti
