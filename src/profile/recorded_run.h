#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/finding.h"
#include "advise/recording.h"
#include "profile/profile_page.h"

namespace tutti {

/// The flags that make a change, as typed behind the command: "--decode-threads 4". Empty: no flag of the command
/// does. Threads have flags, and some queues.
std::vector<std::string> flags_of(const RunRecording& recording, const Change& change);

/// The change that `text` names ("decode.threads=4", or with the command in front, "features.decode.threads=4"). The
/// command's name alone names its stage of that name. Fault::usage where the run has no such stage or setting, or
/// where no flag sets it.
Result<Change> parse_flag_change(const std::string& text, const RunRecording& recording);

/// A profiled run of a command.
struct ProfiledRun {
  RunRecording recording{};
  std::optional<Diagnosis> found{};  ///< none: the replay does not explain the run
  std::vector<SideCause> causes{};   ///< beside the limiting stage
};

/// What other programs took of the cores meanwhile, with a line end; empty where that is little. It goes before all
/// else: the figures are of a run beside them.
std::string other_programs_text(const std::vector<SideCause>& causes);

/// What the profile of a command prints for people: a table of the stages, then what limits the run, its cause, and one
/// advice, as flags to copy, then what else was measured and predicted. Shares are of the threads' time; avg, p50, p95,
/// min and max are milliseconds an item; gap is the time between two items of a thread; share is the stage's part of
/// all working time.
std::string profile_text(const ProfiledRun& run);

/// The same as one JSON object, without a line end: keys as those of a described run, and command, unit, items,
/// elapsed, device_busy, cause, advice, causes, settling, the timeline, of each stage std_ms, p50_ms, min_ms, max_ms,
/// gap_ms and stalls (items of more than ten times the median), of each fix its flags.
std::string profile_json(const ProfiledRun& run);

/// The same as a page (profile_page.h); `title`: the command line.
ProfilePage profile_page(const ProfiledRun& run, const std::string& title);

/// One sentence with its full stop: what limited the run, and what one change would gain; or that this is not known,
/// because the replay does not explain the run.
std::string finding_sentence(const ProfiledRun& run);

/// What a command does with the recording of its run when that has ended: it writes it where `tutti profile` wants it,
/// without the delays of an experiment in its `elapsed`, and else returns the sentence for its log, without a line end:
/// what limited the run, and what one change would gain. What other programs took comes first. Empty where it is alone
/// and its limit is not known: the run was too short, or the replay does not explain it.
///
/// `machine`: what the machine did beside the run (RunWatch).
Result<std::string> conclude(const RunRecording& recording, const MachineEvidence& machine = {});

}  // namespace tutti
