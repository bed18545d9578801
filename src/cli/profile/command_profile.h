#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"
#include "base/error.h"
#include "base/process/child_watch.h"
#include "profile/command/command_run.h"

namespace tutti {

/// Waits for the end of the child, or stops it after `seconds` as Ctrl+C does; 0: it ends by itself. Its exit code;
/// that of a command which ends as interrupted then counts as done. kInterrupted where the user has interrupted.
int end_of(Child& child, ChildWatch& watch, double seconds);

/// Runs any program with its streams as its own, and prints on standard error what its threads did: how long they ran,
/// waited for a core or a disk, or were blocked, and what limited it. The exit code is the program's own; kInterrupted
/// where the user has interrupted, kNothingRan where it was too short for anything to be seen.
int profile_program(const CommandProfile& profile);

/// Runs the command with its standard output as its own, reads the recording that it writes, and prints the profile on
/// standard error. With `prove` the command runs again with the fix, its output dropped, and the measured rate
/// is printed beside the predicted one. With `experiment` it runs again for each stage, as if that were twice as fast
/// (flow/virtual_clock.h), and a table of predicted and measured gains is printed.
///
/// What the machine counted meanwhile (other programs, quota, memory, heat) is named where it cost time.
///
/// The exit code is the command's own where it failed, kInterrupted where the user has interrupted, kNothingRan where
/// nothing was measured, kNotProven where a measured rate is outside of what was predicted.
ProfileEnd profile_command(const CommandProfile& profile);

/// The same without the profile: runs the command, its output dropped, for its recording alone.
ProfileEnd record_command(const CommandProfile& profile);

/// `tutti profile train`: a training of any task, of so many steps behind its warm-up, in a folder of its own that goes
/// with it, with field note 002's flags; prints the note's table and named rules, then the profile. `arguments`: the
/// words behind "train". Returns the exit code, as profile_command does.
int run_train_profile(const std::vector<std::string>& arguments);

}  // namespace tutti
