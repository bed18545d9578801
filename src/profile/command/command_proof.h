#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "advise/recording.h"
#include "base/error.h"
#include "profile/command/command_run.h"

namespace tutti {

/// What further runs of a profiled command need of their program.
struct ProofRuns {
  /// The command once more, elsewhere (flags_for_outputs_in), with these flags behind its own; `sped_up` as
  /// run_recorded's.
  std::function<Result<CommandRun>(const std::vector<std::string>& flags, const std::string& sped_up)> again{};
  std::function<void(const std::string& text)> say{};  ///< what each of them came to, for people
};

/// How they ended: the exit code, and the error that ended them, if any.
struct ProofEnd {
  int code = kDone;
  std::optional<Error> error{};
};

/// Flags that have a command write into `folder`, so that it does all of its work again and replaces nothing.
std::vector<std::string> flags_for_outputs_in(const std::filesystem::path& folder, const CommandProfile& profile);

/// Runs again with the changes of `profile.apply`, or with the first fix that flags make, and compares the measured
/// rate with the predicted one: kNotProven where it is outside of that.
ProofEnd prove_fix(const CommandProfile& profile, const RunRecording& recording, const std::optional<Diagnosis>& found,
                   const ProofRuns& runs);

/// Runs again for each stage, with that one twice as fast. `explained`: predictions can be made.
ProofEnd experiment_with_stages(const CommandProfile& profile, const CommandRun& first, bool explained,
                                const ProofRuns& runs);

/// Runs again with the settings that replay fastest, and where these are others by that run's own recording once more.
/// The code is that of the last run's proof.
ProofEnd tune_command(const CommandProfile& profile, const CommandRun& first, const ProofRuns& runs);

}  // namespace tutti
