#include "prepare/prepared_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "audio/synth/audio_file.h"
#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/try.h"
#include "prepare/known_text.h"
#include "text/json_bytes.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kDoneFolder = "done";
constexpr const char* kRefused = "refused.jsonl";
// In done/.
constexpr const char* kSettings = "settings";
constexpr const char* kLock = "lock";

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

std::string line_of(const Json& object) {
  return json_keeping_bytes(object) + "\n";
}

/// The middle of the quietest 160 ms of a stretch; `at` where it is shorter than that.
Result<double> quietest_in(const Recording& recording, Stretch stretch, double at) {
  constexpr std::int64_t kLook = 2560, kStep = 160;
  const auto first = std::max<std::int64_t>(0, samples_in(Seconds(stretch.start), kModelRate));
  const auto last = std::min(recording.samples(), samples_in(Seconds(stretch.end), kModelRate));
  if (last - first < kLook) return at;
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(last - first));
  TRY(recording.read(first, pcm));
  std::int64_t best = 0;
  double least = -1;
  for (std::int64_t from = 0; from + kLook <= std::ssize(pcm); from += kStep) {
    double energy = 0;
    for (const std::int16_t sample : std::span(pcm).subspan(static_cast<std::size_t>(from), kLook))
      energy += static_cast<double>(sample) * sample;
    if (least >= 0 && energy >= least) continue;
    least = energy;
    best = from;
  }
  return length_of(first + best + kLook / 2, kModelRate).count();
}

/// The piece with its edges where it is quiet.
Result<Piece> settled(const PreparedPiece& taken, const Recording& recording) {
  Piece piece = taken.piece;
  const auto whole = recording.duration().count();
  if (piece.start > 0) piece.start = TRY(quietest_in(recording, taken.around_start, piece.start));
  if (piece.end < whole) piece.end = TRY(quietest_in(recording, taken.around_end, piece.end));
  return piece;
}

/// The times within the sample.
Transcript transcript_of(const Piece& piece, const std::string& language) {
  Transcript transcript{.text = piece.text, .segments = {}, .language = language};
  for (const TimedText& text : piece.times) {
    Segment segment;
    segment.id = std::ssize(transcript.segments);
    segment.start = std::max(0.0, text.start - piece.start);
    segment.end = std::min(text.end, piece.end) - piece.start;
    segment.text = " " + text.text;
    transcript.segments.push_back(std::move(segment));
  }
  return transcript;
}

/// One process at a time: who takes another one for gone, and goes on, would write over what that one does.
Result<OwnedFd> lock_folder(const fs::path& out) {
  return take_hold({.file = out / kDoneFolder / kLock,
                    .other = out.string() + ": another process is preparing this corpus",
                    .unnoticed = "a second process in " + out.string(),
                    .way_out = "Wait for it to end, or name another folder with " + field("out")});
}

/// The files of recordings, in the order in which these were done.
std::map<int, fs::path> done_files(const fs::path& out) {
  std::map<int, fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(out / kDoneFolder, ignored))
    if (const auto number = number_in<int>(entry.path().filename().string())) files[*number] = entry.path();
  return files;
}

Result<DoneRecording> read_done_file(const fs::path& file) {
  const auto text = TRY(read_file(file));
  auto done = read_done(text);
  if (!done) return fail_in(file.string(), done.error());
  return done;
}

/// Whether part of a corpus is there, to go on with.
bool is_begun(const fs::path& out) {
  return is_there(out / kDoneFolder / kSettings);
}

/// Fault::usage where a corpus is there already, or something of the user's that has one of its names.
Result<void> expect_own_folder(const fs::path& out) {
  if (is_begun(out)) return {};
  const bool is_whole = is_there(out / "metadata.csv") && is_there(out / kRefused);
  if (is_whole)
    return fail(Fault::usage, out.string() + ": holds a corpus already", "Name another folder, or remove it");
  std::error_code ignored;
  for (const char* name : {"metadata.csv", kRefused})
    if (is_taken(out / name))
      return fail(Fault::usage, (out / name).string() + " is there already and is no part of a corpus that is begun",
                  "Move it away, or name another folder with " + field("out"));
  for (const char* name : {"audio", "transcripts"})
    if (auto own = expect_no_files(out / name); !own) return own;
  // A process that was killed at its start left its lock alone.
  for (const auto& entry : fs::directory_iterator(out / kDoneFolder, ignored))
    if (entry.path().filename() != kLock) return expect_no_files(out / kDoneFolder);
  return {};
}

/// Removes done/, but for what is not ours in it. First what makes it part of a corpus, so that half of it is never
/// gone on with.
void remove_done(const fs::path& out) {
  const auto files = done_files(out);
  std::error_code ignored;
  fs::remove(out / kDoneFolder / kSettings, ignored);
  for (const auto& [number, file] : files) fs::remove(file, ignored);
  fs::remove(out / kDoneFolder / kLock, ignored);
  fs::remove(out / kDoneFolder, ignored);  // if nothing else is in it
}

/// Keeps the settings of a corpus that is begun, and expects those of one that is gone on with.
Result<void> settle_settings(const fs::path& out, const std::string& settings, bool goes_on) {
  const auto path = out / kDoneFolder / kSettings;
  if (!goes_on) return write_file_atomically(path, settings);
  const auto before = TRY(read_file(path));
  if (before == settings) return {};
  return fail(Fault::usage, out.string() + ": holds part of a corpus that was made with other settings",
              "Go on with the same ones, name another folder, or remove it");
}

}  // namespace

Result<PreparedFolder> PreparedFolder::create(const fs::path& out, const std::string& settings,
                                              const StampOf& stamp_now, OutputOwnership files) {
  TRY(expect_own_folder(out));
  for (const char* name : {"audio", "transcripts", kDoneFolder}) TRY(make_folders(out / name));
  auto lock = TRY(lock_folder(out));
  PreparedFolder folder(out, std::move(lock), std::move(files));
  TRY(folder.go_on(settings, stamp_now));
  return folder;
}

/// Takes in what an earlier run has prepared, but of recordings that are not what they were then.
Result<void> PreparedFolder::go_on(const std::string& settings, const StampOf& stamp_now) {
  const auto files = done_files(out_);
  if (auto settled = settle_settings(out_, settings, !files.empty()); !settled) return settled;
  for (const auto& [number, file] : files) {
    const auto done = TRY(read_done_file(file));
    last_ = number;
    const auto now = stamp_now(done.path);
    if (!now.empty() && now != done.made_of) {
      log(Level::warning, done.path + " or its text has changed: what was prepared of it before is not kept");
      std::error_code ignored;
      fs::remove(file, ignored);
      continue;
    }
    take(done);
    names_.insert(done.name);
    ++before_[done.path];
  }
  return {};
}

void PreparedFolder::take(const DoneRecording& done) {
  metadata_ += done.metadata;
  refused_ += done.refused;
  totals_.samples += done.totals.samples;
  totals_.audio += done.totals.audio;
  totals_.refused += done.totals.refused;
}

bool PreparedFolder::has(const fs::path& path) {
  const auto found = before_.find(path.string());
  if (found == before_.end()) return false;
  if (--found->second == 0) before_.erase(found);
  return true;
}

/// The recording's name, with a number where another has it, too.
std::string PreparedFolder::name_for(const fs::path& path) {
  const auto stem = path.stem().string();
  auto name = stem;
  for (int number = 2; !names_.insert(name).second; ++number) name = stem + "~" + std::to_string(number);
  return name;
}

Result<void> PreparedFolder::write_file(const fs::path& path, const std::string& content) const {
  return files_.write(path, content).map([](bool) {});
}

Result<void> PreparedFolder::write(const std::string& id, const PreparedRecording& prepared, const PreparedPiece& taken,
                                   DoneRecording& done) const {
  const auto piece = TRY(settled(taken, prepared.recording));
  const auto first = samples_in(Seconds(piece.start), kModelRate);
  const auto last = std::min(samples_in(Seconds(piece.end), kModelRate), prepared.recording.samples());
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(std::max<std::int64_t>(0, last - first)));
  TRY(prepared.recording.read(first, pcm));
  const auto audio = out_ / "audio" / (id + ".flac");
  TRY(files_.expect_no_input(audio));
  TRY(write_audio(audio, pcm, AudioFormat::flac));
  TRY(write_file(out_ / "transcripts" / (id + ".json"), transcript_json(transcript_of(piece, prepared.language))));
  const Seconds length = length_of(std::ssize(pcm), kModelRate);
  done.metadata += quoted(id) + "," + quoted(id + ".flac") + "," + quoted(piece.text) + "," +
                   fixed_text(length.count(), 4) + "," + fixed_text(piece.start, 3) + "," + fixed_text(taken.score, 3) +
                   "\n";
  ++done.totals.samples;
  done.totals.audio += length;
  return {};
}

Result<void> PreparedFolder::add(const fs::path& path, const PreparedRecording& prepared) {
  DoneRecording done{.path = path.string(), .made_of = prepared.made_of};
  if (!prepared.pieces.empty()) done.name = name_for(path);
  int number = 0;
  for (const PreparedPiece& piece : prepared.pieces) {
    char counted[16];
    std::snprintf(counted, sizeof counted, "-%04d", ++number);
    if (auto written = write(done.name + counted, prepared, piece, done); !written) return written;
  }
  for (const TextUnit& unit : prepared.refused) {
    done.refused += line_of({{"recording", path.string()},
                             {"start", std::round(unit.segment.start * 1000) / 1000},
                             {"end", std::round(unit.segment.end * 1000) / 1000},
                             {"text", unit.segment.text},
                             {"reason", unit.refused}});
    ++done.totals.refused;
  }
  take(done);
  if (prepared.pieces.empty()) return {};  // it may have its text by the next run
  return write_file(out_ / kDoneFolder / std::to_string(++last_), show_done(done));
}

void PreparedFolder::refuse(const fs::path& path, const std::string& reason) {
  refused_ += line_of({{"recording", path.string()}, {"reason", reason}});
  ++totals_.refused;
}

Result<void> PreparedFolder::finish(bool ended) const {
  if (auto written = write_file(out_ / kRefused, refused_); !written) return written;
  auto written = write_file(out_ / "metadata.csv", "id,audio_file,text,duration,from,score\n" + metadata_);
  if (written && ended) remove_done(out_);
  return written;
}

}  // namespace tutti
