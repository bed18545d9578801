#include "profile/serial_run.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/units.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"

namespace tutti {
namespace {

constexpr Seconds kShortest{2};         // what is shorter is mostly the start
constexpr double kWorthAStage = 0.001;  // share of the run

}  // namespace

void SerialRun::note(std::string_view phase, Clock::Instant start, Clock::Instant end) {
  watch();
  auto found = std::ranges::find(phases_, phase, &TimedPhase::name);
  if (found == phases_.end()) found = phases_.insert(found, {.name = std::string(phase)});
  found->calls.emplace_back(end - start);
  found->all += end - start;
  if (row_) row_->slice(phase, start, end);
  if (!start_) start_ = start;
  end_ = end;
}

std::string SerialRun::finding() const {
  if (!start_ || end_ - *start_ < kShortest) return {};
  const Seconds all = end_ - *start_;
  const auto longest = std::ranges::max_element(phases_, {}, &TimedPhase::all);
  const double share = longest->all / all / 2;  // that is saved where it takes half as long
  return longest->name + " limits the run: twice as fast it would save " + fixed_text(100 * share, 1) +
         " % of the time, which gains " + fixed_text(100 * (1 / (1 - share) - 1), 0) + " %.";
}

RunRecording SerialRun::recording(const std::string& command, const std::string& unit) const {
  RunRecording recording{.command = command, .unit = unit};
  if (!start_) return recording;
  recording.elapsed = end_ - *start_;
  std::size_t items = 1;
  for (const TimedPhase& phase : phases_) items = std::max(items, phase.calls.size());
  Seconds rest = recording.elapsed;
  const auto add = [&](const std::string& name, Seconds all, std::vector<Seconds> calls) {
    if (calls.size() != items) calls.assign(items, all / static_cast<double>(items));
    recording.stages.push_back(
        {.name = name, .times = {.name = name, .busy = all, .count = items}, .items = std::move(calls)});
  };
  for (const TimedPhase& phase : phases_) {
    add(phase.name, phase.all, phase.calls);
    rest -= phase.all;
  }
  if (rest > kWorthAStage * recording.elapsed) add("rest", rest, {});
  return recording;
}

Result<std::string> SerialRun::conclude(const std::string& command, const std::string& unit) const {
  const auto file = recording_wanted();
  const std::string found = finding();
  if (!file && !found.empty())
    return other_programs_text(side_causes(excerpt_of(recording(command, unit)), watch_->evidence())) + found;
  if (!file || !start_) return found;
  return write_recording(recording(command, unit), *file).map([] { return std::string(); });
}

}  // namespace tutti
