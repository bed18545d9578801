#include "cli/profile/command_profile.h"

#include <signal.h>

#include <cstdio>
#include <utility>

#include "base/process/child.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/temporary_folder.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "profile/command/command_proof.h"
#include "profile/page_file.h"
#include "profile/phase_table.h"
#include "profile/recorded_run.h"

namespace tutti {
namespace {

Result<CommandRun> run(const CommandProfile& profile, const std::vector<std::string>& more, ChildStreams streams,
                       const std::string& sped_up = {}) {
  const ReceivedSignals signals;  // before any thread
  return run_recorded(profile, more, streams, sped_up, [&](Child& child) {
    ChildWatch watch(child, signals, streams == ChildStreams::terminal,
                     [&](int signal) { ::kill(child.pid(), signal); });
    return end_of(child, watch, profile.seconds);
  });
}

void print(const std::string& text) {
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
}

/// The command once more, elsewhere.
Result<CommandRun> run_again(const CommandProfile& profile, const std::vector<std::string>& more,
                             const std::string& sped_up) {
  const TemporaryFolder elsewhere;
  const auto folder = TRY(elsewhere.path());
  std::vector<std::string> flags = flags_for_outputs_in(folder, profile);
  flags.insert(flags.end(), more.begin(), more.end());
  return run(profile, flags, ChildStreams::errors, sped_up);
}

}  // namespace

ProfileEnd profile_command(const CommandProfile& profile) {
  const auto page = PageFile::claim(profile.html, profile.command);
  if (!page) return {complain(page.error(), kUsage)};
  std::vector<std::string> more;
  if (!profile.trace.empty()) more = {"--trace", profile.trace.string()};
  const auto first = run(profile, more, ChildStreams::terminal);
  if (!first) return {complain(first.error())};
  const bool failed = has_failed(*first);
  if (!first->recording) {
    const Error& why = first->recording.error();
    const int code = failed ? complain({why.fault, "nothing was measured: the command failed before"}, kNothingRan)
                            : complain(why, kNothingRan);
    return {first->code == kDone ? code : first->code};
  }
  const ProfiledRun profiled{*first->recording, diagnose(*first->recording),
                             side_causes(*first->recording, first->machine)};
  ProfileEnd end{first->code, profiled.recording};
  const std::string others = other_programs_text(profiled.causes);
  if (!profile.json) print(others);
  if (profile.training && profiled.recording.phases && !profile.json)
    print(phase_text(*profiled.recording.phases, phase_devices(*profile.training, *first),
                     {.lengths = profiled.recording.lengths, .others = others}) +
          "\n");
  print(profile.json ? profile_json(profiled) + "\n" : profile_text(profiled));
  if (page->is_wanted())
    if (const auto written = page->write(profile_page(profiled, joined(profile.command, " "))); !written)
      return {complain(written.error()), profiled.recording};
  if (failed || !(profile.prove || profile.tune || profile.experiment)) return end;
  const ProofRuns runs{
      .again = [&](const auto& flags, const auto& sped_up) { return run_again(profile, flags, sped_up); },
      .say = print};
  const ProofEnd again = profile.experiment ? experiment_with_stages(profile, *first, profiled.found.has_value(), runs)
                         : profile.tune     ? tune_command(profile, *first, runs)
                                            : prove_fix(profile, profiled.recording, profiled.found, runs);
  if (again.error) complain(*again.error, again.code);
  if (again.code != kDone) end.code = again.code;
  return end;
}

ProfileEnd record_command(const CommandProfile& profile) {
  auto done = run(profile, {}, ChildStreams::errors);
  if (!done) return {complain(done.error())};
  if (done->code != kDone) return {done->code};
  if (!done->recording) return {complain(done->recording.error(), kNothingRan)};
  return {kDone, std::move(*done->recording)};
}

}  // namespace tutti
