#include "profile/program_times.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tutti {
namespace {

constexpr Seconds kTick{0.01};            // of the kernel's clock for a start, and of some counters
constexpr Seconds kTicks = 3 * kTick;     // what three such counters may lack
constexpr std::size_t kMostBeside = 256;  // that ran at once and were not seen
constexpr int kDeepest = 1000;            // processes above one another

std::string name_of(const ProcessCounters& process) {
  return process.name + (process.is_root ? "" : " (child)");
}

}  // namespace

void ProgramTimes::add(const ProgramLook& look) {
  const Seconds passed = looks_++ > 0 ? look.at - last_ : Seconds(0);
  if (looks_ == 1) first_ = look.at;
  last_ = look.at;
  Bytes memory{};
  int runnable = 0, left = 0;
  for (const ProcessCounters& process : look.processes) {
    SeenProcess& seen = processes_[process.process];
    if (seen.look > 0 && seen.last.start != process.start) {  // another one got its number
      end(SeenProcess(seen));
      seen = {};
    }
    seen.last = process;
    seen.last.threads.clear();
    seen.look = looks_;
    for (const ThreadCounters& thread : process.threads) {
      runnable += thread.is_runnable;
      note(thread, seen, passed);
    }
    memory.value += process.resident.value;
    left += !process.has_ended && !process.is_root;
  }
  end_what_is_gone();
  for (auto& [_, process] : processes_) count_unseen(process, passed);
  self_.last.children_ran = look.ended;
  count_unseen(self_, passed);
  run_.most_memory = std::max(run_.most_memory, memory);
  run_.most_runnable = std::max(run_.most_runnable, runnable);
  run_.still_running = left;
}

void ProgramTimes::note(const ThreadCounters& thread, SeenProcess& process, Seconds passed) {
  const auto [found, is_new] = threads_.try_emplace({thread.thread, thread.start.count()});
  SeenThread& seen = found->second;
  if (is_new) seen.since = last_;
  const Seconds ran = std::max(Seconds(0), thread.ran - seen.last.ran);
  const Seconds waited = std::max(Seconds(0), thread.waited - seen.last.waited);
  const Seconds lived = is_new ? std::clamp(last_ - thread.start - kTick, Seconds(0), passed) : passed;
  seen.names = {name_of(process.last), thread.name};
  seen.process = process.last.process;
  seen.times.running += ran;
  seen.times.core_wait += waited;
  seen.undecided += std::max(Seconds(0), lived - ran - waited);
  if (!thread.is_runnable) {  // else this look does not show what it had waited for
    seen.on_disk = waits_for_disk(thread, seen, process);
    (seen.on_disk ? seen.times.disk : seen.times.blocked) += std::exchange(seen.undecided, Seconds(0));
  }
  seen.last = thread;
  seen.until = last_;
  seen.look = looks_;
  process.threads += ran;
}

/// Not each sleep that nothing interrupts is one for a disk: a parent in vfork waits for its child, and a lock of the
/// kernel for another thread. It is one where its process has moved bytes or pages since the thread's last wait.
bool ProgramTimes::waits_for_disk(const ThreadCounters& thread, SeenThread& seen, const SeenProcess& process) {
  if (!thread.is_uninterruptible || thread.call == SleepingCall::starts_process) return false;
  const bool is_same_wait = seen.last.is_uninterruptible && thread.ran == seen.last.ran;
  const bool has_moved = std::exchange(seen.moved, process.moved()) < process.moved() || thread.disk > seen.last.disk;
  return has_moved || thread.call == SleepingCall::syncs_files || !process.last.shows_bytes ||
         (is_same_wait && seen.on_disk);
}

/// Adds a thread to the first lane that was free since it began.
void ProgramTimes::end(SeenThread thread) {
  ThreadTimes& times = thread.times;
  (thread.on_disk ? times.disk : times.blocked) += thread.undecided;
  const Seconds more = std::clamp(thread.last.disk - times.disk, Seconds(0), times.blocked);
  times.disk += more;
  times.blocked -= more;
  Group& group = groups_[thread.names];
  ++group.threads;
  auto lane = std::ranges::find_if(group.lanes, [&](const Lane& it) { return it.until < thread.since; });
  if (lane == group.lanes.end()) lane = group.lanes.insert(lane, Lane());
  lane->times += times;
  lane->until = thread.until;
  lane->longest = std::max(lane->longest, times.running);
  lane->processes += lane->last_process != thread.process;
  lane->last_process = thread.process;
  if (const auto process = processes_.find(thread.process); process != processes_.end())
    process->second.ended_thread = thread.names;
}

/// Hands to its parent what is counted of a process: the parent's counter of its children has that, too.
void ProgramTimes::end(const SeenProcess& process) {
  ++process_counts_[name_of(process.last)];
  const auto found = processes_.find(process.last.parent);
  SeenProcess& parent = found == processes_.end() ? self_ : found->second;
  parent.ended += process.counted();
  parent.ended_faults += process.faults();
  parent.ended_read.value += process.read().value;
  parent.ended_written.value += process.written().value;
  const bool did_little = process.threads + process.unseen < process.ended + process.unseen_children;
  parent.ended_child = did_little && !process.ended_child.first.empty() ? process.ended_child
                       : !process.ended_thread.first.empty()            ? process.ended_thread
                                                             : Names(name_of(process.last), process.last.name);
}

int ProgramTimes::depth_of(int process) const {
  int depth = 0;
  for (auto it = processes_.find(process); it != processes_.end() && depth < kDeepest; ++depth)
    it = processes_.find(it->second.last.parent);
  return depth;
}

void ProgramTimes::end_what_is_gone() {
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const bool is_gone = thread->second.look != looks_;
    if (is_gone) end(std::move(thread->second));
    thread = is_gone ? threads_.erase(thread) : std::next(thread);
  }
  std::vector<std::pair<int, int>> gone;  // the deepest first: what is counted of them goes up
  for (const auto& [number, process] : processes_)
    if (process.look != looks_) gone.emplace_back(depth_of(number), number);
  std::ranges::sort(gone, std::greater());
  for (const auto& [_, number] : gone) {
    const SeenProcess process = std::move(processes_.at(number));
    processes_.erase(number);
    end(process);
  }
}

/// What a process has counted of its threads and children beyond what was seen of them.
void ProgramTimes::count_unseen(SeenProcess& process, Seconds passed) {
  const Names own(name_of(process.last), process.last.name);
  if (const Seconds ran = process.last.ran - process.threads - process.unseen; ran > Seconds(0)) {
    process.unseen += ran;
    add_unseen(Unseen::threads, process.ended_thread.first.empty() ? own : process.ended_thread, ran, passed);
  }
  const Seconds ran = process.last.children_ran - process.ended - process.unseen_children;
  if (ran > Seconds(0)) {
    process.unseen_children += ran;
    const Names unknown(process.last.name + " (child)", process.last.name);
    add_unseen(Unseen::processes, process.ended_child.first.empty() ? unknown : process.ended_child, ran, passed);
  }
  // A child that was seen and not waited for is in no counter: what it did must not hide what others do.
  process.looks_short = ran < -kTicks ? process.looks_short + 1 : 0;
  if (process.looks_short > 1) process.ended += ran;
}

void ProgramTimes::add_unseen(Unseen what, const Names& names, Seconds ran, Seconds passed) {
  Group& group = groups_[names];
  group.has_unseen_processes |= what == Unseen::processes;
  for (std::size_t i = 0; ran > Seconds(0); ++i) {
    if (i == group.unseen.size()) group.unseen.emplace_back();
    const Seconds part = passed > Seconds(0) && i + 1 < kMostBeside ? std::min(ran, passed) : ran;
    group.unseen[i] += part;
    ran -= part;
  }
}

/// Adds up the lanes of a group, with what was not seen: that had no core in the same proportion.
void ProgramTimes::add_group(const Names& names, const Group& group) {
  ThreadGroup all{.process = names.first, .thread = names.second, .threads = group.threads};
  all.processes = std::max(1, process_counts_[names.first]);
  auto lanes = group.lanes;
  auto unseen = group.unseen;
  std::ranges::sort(lanes, std::greater(), [](const Lane& lane) { return lane.times.wanted(); });
  std::ranges::sort(unseen, std::greater());
  lanes.resize(std::max(lanes.size(), unseen.size()));
  ThreadTimes seen{};
  for (const Lane& lane : group.lanes) seen += lane.times;
  const double core_wait = seen.running > Seconds(0) ? seen.core_wait / seen.running : 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Lane& lane = lanes[i];
    if (i < unseen.size()) {
      lane.times.running += unseen[i];
      lane.times.core_wait += std::clamp(run_.elapsed - lane.times.all(), Seconds(0), unseen[i] * core_wait);
      if (group.has_unseen_processes) lane.processes = std::max(lane.processes, 2);
      run_.unseen += unseen[i];
    }
    lane.times.blocked -= std::clamp(lane.times.all() - run_.elapsed, Seconds(0), lane.times.blocked);
    all.times += lane.times;
    all.computing += lane.times.running > run_.elapsed / 20;
    if (lane.times.wanted() < run_.busiest.wanted()) continue;
    run_.busiest = lane.times;
    run_.busiest_name = names.second;
    run_.busiest_processes = lane.longest < lane.times.running / 2 ? lane.processes : 1;
  }
  run_.groups.push_back(std::move(all));
}

OutsideRun ProgramTimes::finish() {
  run_.elapsed = looks_ > 0 ? last_ - first_ : Seconds(0);
  looks_ += 1;  // all is gone now
  end_what_is_gone();
  run_.major_faults = self_.faults();
  run_.read = self_.read();
  run_.written = self_.written();
  for (const auto& [names, group] : groups_) add_group(names, group);
  Seconds ran{};
  for (const ThreadGroup& group : run_.groups) ran += group.times.running;
  run_.unwaited = std::max(Seconds(0), ran - self_.last.children_ran);
  run_.busiest.blocked += std::max(Seconds(0), run_.elapsed - run_.busiest.all());  // it was not there
  std::ranges::stable_sort(run_.groups, std::greater(), [](const ThreadGroup& group) { return group.times.wanted(); });
  return std::move(run_);
}

}  // namespace tutti
