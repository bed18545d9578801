#include "profile/outside_recorder.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "profile/recording_file.h"
#include "view/table.h"
#include "view/terminal_text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kEvery{50};
constexpr int kSparse = 100;  // times as long as a look takes goes between two of them
constexpr std::size_t kWidth = 140, kShownGroups = 12;

double share(Seconds part, const ThreadTimes& times) {
  return times.all().count() > 0 ? part / times.all() : 0;
}

Seconds wanted_to_run(const ThreadTimes& times) {
  return times.running + times.core_wait + times.disk;
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

OutsideRecorder::OutsideRecorder(int process)
    : process_(process), thread_(std::make_unique<PeriodicThread>(kEvery, [this] { look(); })) {
  look();
}

void OutsideRecorder::look() {
  const auto begun = Clock::real().now();
  if (state_.with([&](const State& state) { return begun < state.next; })) return;
  const auto processes = read_process_tree(process_);
  const auto ended = Clock::real().now();
  state_.with([&](State& state) {
    note(state, processes, ended);
    state.next = ended + kSparse * (ended - begun) - kEvery;
  });
}

void OutsideRecorder::note(State& state, const std::vector<ProcessCounters>& processes, Clock::Instant now) const {
  if (processes.empty()) return;
  const Seconds passed = state.looks++ > 0 ? Seconds(now - state.last) : Seconds(0);
  if (state.looks == 1) state.first = now;
  state.last = now;
  Bytes memory{};
  int runnable = 0;
  for (const ProcessCounters& process : processes) {
    memory.value += process.resident.value;
    const std::string name = process.name + (process.is_root ? "" : " (child)");
    for (const ThreadCounters& thread : process.threads) {
      runnable += thread.is_runnable;
      auto [seen, is_new] = state.threads.try_emplace(thread.thread);
      SeenThread& it = seen->second;
      it.group = {name, thread.name};
      const Seconds ran = thread.ran - it.last.ran, waited = thread.waited - it.last.waited;
      const Seconds rest = is_new ? Seconds(0) : std::max(Seconds(0), passed - ran - waited);
      it.times += {.running = std::max(Seconds(0), ran),
                   .core_wait = std::max(Seconds(0), waited),
                   .disk = thread.waits_for_disk ? rest : Seconds(0),
                   .blocked = thread.waits_for_disk ? Seconds(0) : rest};
      it.last = thread;
    }
    ProcessCounters& kept = state.processes[process.process];
    kept = process;
    kept.threads.clear();
  }
  state.most_memory = std::max(state.most_memory, memory);
  state.most_runnable = std::max(state.most_runnable, runnable);
}

OutsideRun OutsideRecorder::stop() {
  thread_.reset();
  const State state = state_.with([](const State& it) { return it; });
  OutsideRun run{.cores = usable_cores(), .most_runnable = state.most_runnable, .most_memory = state.most_memory};
  if (state.looks > 1) run.elapsed = state.last - state.first;
  std::map<std::pair<std::string, std::string>, ThreadGroup> groups;
  std::map<std::string, std::set<int>> processes;
  for (const auto& [number, process] : state.processes) {
    run.major_faults += process.major_faults;
    run.read.value += process.read.value;
    run.written.value += process.written.value;
    processes[process.name + (process.is_root ? "" : " (child)")].insert(number);
  }
  for (const auto& [number, thread] : state.threads) {
    ThreadGroup& group = groups[thread.group];
    group.process = thread.group.first;
    group.thread = thread.group.second;
    ++group.threads;
    group.times += thread.times;
    if (wanted_to_run(thread.times) < wanted_to_run(run.busiest)) continue;
    run.busiest = thread.times;
    run.busiest_name = thread.group.second;
  }
  for (auto& [names, group] : groups) {
    group.processes = static_cast<int>(std::max<std::size_t>(1, processes[group.process].size()));
    run.groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(run.groups, std::greater(),
                           [](const ThreadGroup& group) { return wanted_to_run(group.times); });
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
            {"other_cores", run.machine.other_cores}};
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
