#include "public/tutti/profile.h"

#include <utility>

#include "advise/recording.h"
#include "base/strings.h"
#include "base/try.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "profile/serial_run.h"

namespace tutti {
namespace {

PredictedRate rate_of(const Fix& fix) {
  return {.change = joined(fix.changes, " ", [](const Change& change) { return change.text(); }),
          .items_per_s = fix.items_per_s,
          .low = fix.low,
          .high = fix.high};
}

}  // namespace

struct RunProfile::Parts {
  explicit Parts(RunRecording recording) : run{.recording = std::move(recording), .found = diagnose(run.recording)} {}

  ProfiledRun run;
};

RunProfile::RunProfile(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
RunProfile::RunProfile(RunProfile&&) noexcept = default;
RunProfile& RunProfile::operator=(RunProfile&&) noexcept = default;
RunProfile::~RunProfile() = default;

Result<RunProfile> RunProfile::read(const std::filesystem::path& recording) {
  auto read = TRY(read_recording(recording));
  return RunProfile(std::make_unique<const Parts>(std::move(read)));
}

const std::string& RunProfile::unit() const {
  return parts_->run.recording.unit;
}

double RunProfile::items_per_s() const {
  return tutti::rate_of(parts_->run.recording);
}

std::optional<std::string> RunProfile::limit() const {
  const auto& found = parts_->run.found;
  return found && found->limit.share >= kLeastGain ? std::optional(found->limit.stage) : std::nullopt;
}

std::string RunProfile::finding() const {
  return finding_sentence(parts_->run);
}

std::vector<PredictedRate> RunProfile::gains() const {
  std::vector<PredictedRate> gains;
  if (const auto& found = parts_->run.found)
    for (const auto* fixes : {&found->fixes, &found->together})
      for (const Fix& fix : *fixes) gains.push_back(rate_of(fix));
  return gains;
}

Result<PredictedRate> RunProfile::predict(const std::string& change) const {
  const auto& recording = parts_->run.recording;
  std::vector<Change> changes;
  for (const auto one : split(change, ' ')) {
    auto parsed = TRY(parse_change(one, model_of(recording)));
    changes.push_back(std::move(parsed));
  }
  return rate_of(tutti::predict(recording, changes));
}

std::string RunProfile::text() const {
  return profile_text(parts_->run);
}

std::string RunProfile::json() const {
  return profile_json(parts_->run);
}

struct LoopProfile::Parts {
  std::string unit;
  SerialRun run{};
};

LoopProfile::LoopProfile(std::string unit) : parts_(new Parts{.unit = std::move(unit)}) {}
LoopProfile::LoopProfile(LoopProfile&&) noexcept = default;
LoopProfile& LoopProfile::operator=(LoopProfile&&) noexcept = default;
LoopProfile::~LoopProfile() = default;

void LoopProfile::measure(std::string_view phase, const std::function<void()>& work) {
  parts_->run.measure(phase, [&] {
    work();
    return true;
  });
}

void LoopProfile::note(std::string_view phase, Clock::Instant start, Clock::Instant end) {
  parts_->run.note(phase, start, end);
}

Result<RunProfile> LoopProfile::profile() const {
  auto recording = parts_->run.recording("loop", parts_->unit);
  if (recording.stages.empty())
    return fail(Fault::missing, "nothing was measured of the loop", "Call measure for each of its phases");
  return RunProfile(std::make_unique<const RunProfile::Parts>(std::move(recording)));
}

}  // namespace tutti
