#include "profile/outside_recorder.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>

#include "base/json.h"
#include "base/numbers.h"
#include "profile/processor_watch.h"
#include "profile/recording_file.h"
#include "view/table.h"
#include "view/terminal_text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kEvery{20};
constexpr int kSparse = 100;  // times as long as a look takes goes between two of them
constexpr std::size_t kWidth = 140, kShownGroups = 12;
constexpr Seconds kShownUnseen{0.01};
constexpr double kShownDisk = 0.01;  // share of a group's time

double share(Seconds part, const ThreadTimes& times) {
  return times.all().count() > 0 ? part / times.all() : 0;
}

Seconds since_start() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return Seconds(static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec));
}

bool used_disks(const OutsideRun& run) {
  const auto waited = [](const ThreadGroup& group) { return group.times.disk >= kShownDisk * group.times.all(); };
  return run.major_faults > 0 || run.read.value + run.written.value > 0 || std::ranges::any_of(run.groups, waited);
}

bool adopts_orphans() {
  int adopts = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) == 0 && adopts != 0;
}

double cores_used(const OutsideRun& run) {
  ThreadTimes all{};
  for (const ThreadGroup& group : run.groups) all += group.times;
  return run.elapsed.count() > 0 ? all.running / run.elapsed : 0;
}

std::string gain_text(const OutsideFinding& found) {
  return found.gain > 0 ? ": without that it is up to " + fixed_text(100 * found.gain, 0) + " % faster" : std::string();
}

std::string sentence(const OutsideRun& run, const OutsideFinding& found) {
  const std::string part = percent(found.share), thread = "its busiest thread (" + run.busiest_name + ")";
  switch (found.limit) {
    case OutsideLimit::all_cores:
      return "All cores limit the program: it computes on " + part + " of " + std::to_string(run.cores) +
             "; more of them would help, or less work";
    case OutsideLimit::one_thread:
      return "One thread limits the program: " + thread + " computes " + part + " of the time. Spread over " +
             std::to_string(run.cores) + " cores the work is up to " + fixed_text(100 * found.gain, 0) + " % faster";
    case OutsideLimit::one_at_a_time:
      return "Its threads compute one at a time, together on " + fixed_text(found.share, 2) +
             " cores: a lock, as Python's GIL, limits the program. With processes it is up to " +
             fixed_text(100 * found.gain, 0) + " % faster";
    case OutsideLimit::one_process:
      return "Its processes compute one after the other, together on " + fixed_text(found.share, 2) +
             " cores, and that limits the program. Side by side on " + std::to_string(run.cores) +
             " cores they are up to " + fixed_text(100 * found.gain, 0) + " % faster";
    case OutsideLimit::too_many_threads:
      return "Too few cores for its threads limit the program: up to " + std::to_string(run.most_runnable) +
             " could run at once on " + std::to_string(run.cores) + ", and " + thread + " waited for one " + part +
             " of the time";
    case OutsideLimit::other_processes:
      return "Other programs limit it: " + thread + " waited for a core " + part + " of the time" + gain_text(found);
    case OutsideLimit::cpu_quota:
      return "The control group's CPU quota limits the program: " + thread + " was held back " + part + " of the time" +
             gain_text(found);
    case OutsideLimit::disk:
      return "A disk limits the program: " + thread + " waited for it " + part + " of the time" + gain_text(found);
    case OutsideLimit::memory:
      return "Memory limits the program: " + thread + " waited for pages " + part + " of the time" + gain_text(found);
    case OutsideLimit::waiting:
      return "Waiting limits the program: " + thread + " was blocked " + part +
             " of the time, by neither a core nor a disk: a lock, a socket, a timer, a device" + gain_text(found);
    case OutsideLimit::unknown: break;
  }
  return "Nothing limits the program most of the time";
}

}  // namespace

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void signal_program(int process, int signal) {
  for (const ProcessCounters& it : read_process_tree({process})) {
    if (it.group != ::getpgrp()) continue;
    ::kill(it.process, signal);
    ::kill(it.process, SIGCONT);
  }
}

OutsideRecorder::OutsideRecorder(int process) : process_(process), ended_before_(children_processor_time()) {
  for (const int child : children_of(::getpid()))
    if (child != process_) others_.insert(child);
  look();
  thread_ = std::make_unique<PeriodicThread>(kEvery, [this] { look(); });
}

/// The child and what has lost its parent. Of the latter those that have ended are waited for, once they were seen.
ProgramLook OutsideRecorder::look_now() const {
  std::vector<int> roots{process_};
  if (adopts_orphans())
    for (const int child : children_of(::getpid()))
      if (child != process_ && !others_.contains(child)) roots.push_back(child);
  ProgramLook look{.processes = read_process_tree(roots), .ended = children_processor_time() - ended_before_};
  for (std::size_t i = 1; i < roots.size(); ++i) ::waitpid(roots[i], nullptr, WNOHANG);
  look.at = since_start();
  return look;
}

void OutsideRecorder::look() {
  const auto begun = Clock::real().now();
  if (state_.with([&](const State& state) { return begun < state.next; })) return;
  const ProgramLook look = look_now();
  const auto ended = Clock::real().now();
  state_.with([&](State& state) {
    state.times.add(look);
    state.next = ended + kSparse * (ended - begun) - kEvery;
  });
}

OutsideRun OutsideRecorder::stop() {
  thread_.reset();
  const ProgramLook last = look_now();
  OutsideRun run = state_.with([&](State& state) {
    state.times.add(last);
    return state.times.finish();
  });
  run.cores = usable_cores();
  if (has_delay_accounting().value_or(false)) run.disk_evidence = DiskEvidence::counted;
  return run;
}

std::string outside_text(const OutsideRun& run) {
  TextTable table{.columns = {{"process", false, 0, true},
                              {"thread", false, 0, true},
                              {"threads", true},
                              {"running", true},
                              {"waits for a core", true},
                              {"waits for a disk", true},
                              {"blocked", true},
                              {"cores", true}}};
  for (const ThreadGroup& group : run.groups) {
    if (table.rows.size() == kShownGroups) break;
    const ThreadTimes& times = group.times;
    const std::string count = group.processes > 1 ? " × " + std::to_string(group.processes) : "";
    table.rows.push_back({group.process + count, group.thread, std::to_string(group.threads),
                          percent(share(times.running, times)), percent(share(times.core_wait, times)),
                          percent(share(times.disk, times)), percent(share(times.blocked, times)),
                          fixed_text(times.running / run.elapsed, 2)});
  }
  std::string text = fixed_text(run.elapsed.count(), 2) + " s, " + fixed_text(cores_used(run), 2) + " of " +
                     std::to_string(run.cores) + " cores used\n";
  for (std::string& line : lay_out(table, kWidth)) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (run.groups.size() > kShownGroups)
    text += "and threads of " + std::to_string(run.groups.size() - kShownGroups) + " more names\n";
  text += "Memory " + bytes_text(run.most_memory) + " at most; from disks " + bytes_text(run.read) + ", to disks " +
          bytes_text(run.written) + "; " + std::to_string(run.major_faults) + " pages read back\n";
  if (run.unseen >= kShownUnseen)
    text += "Of the processor time " + fixed_text(run.unseen.count(), 2) +
            " s are of threads and processes that ended between two looks\n";
  if (run.disk_evidence == DiskEvidence::looks && used_disks(run))
    text += "Waits for a disk are by looks alone: the kernel counts them where kernel.task_delayacct is 1\n";
  if (run.still_running > 0)
    text += "Processes that it has started and that still run: " + std::to_string(run.still_running) + "\n";
  if (run.machine.other_cores >= 0.2)
    text += "Other programs took " + fixed_text(run.machine.other_cores, 1) + " cores meanwhile\n";
  return text + sentence(run, finding_of(run)) + ".\n";
}

std::string outside_json(const OutsideRun& run) {
  const auto found = finding_of(run);
  const auto shares = [](const ThreadTimes& times) {
    return Json{{"running", share(times.running, times)},
                {"core_wait", share(times.core_wait, times)},
                {"disk", share(times.disk, times)},
                {"blocked", share(times.blocked, times)}};
  };
  Json json{{"elapsed", run.elapsed.count()},
            {"cores", run.cores},
            {"cores_used", cores_used(run)},
            {"limit", {{"name", name_of(found.limit)}, {"share", found.share}, {"gain", found.gain}}},
            {"threads", Json::array()},
            {"busiest", shares(run.busiest)},
            {"major_faults", run.major_faults},
            {"read_bytes", run.read.value},
            {"written_bytes", run.written.value},
            {"most_memory_bytes", run.most_memory.value},
            {"other_cores", run.machine.other_cores},
            {"unseen_s", run.unseen.count()},
            {"disk_evidence", run.disk_evidence == DiskEvidence::counted ? "counted" : "looks"},
            {"still_running", run.still_running}};
  json["busiest"]["thread"] = run.busiest_name;
  for (const ThreadGroup& group : run.groups) {
    Json one{
        {"process", group.process}, {"thread", group.thread}, {"processes", group.processes}, {"count", group.threads}};
    one.update(shares(group.times));
    json["threads"].push_back(std::move(one));
  }
  return json_line(json);
}

}  // namespace tutti
