#include "flow/pipeline.h"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "base/try.h"

namespace tutti {
namespace {

Error no_thread(const std::system_error& e) {
  return {Fault::exhausted, std::string("no thread could be started: ") + e.what(),
          "Lower the thread counts, or raise this process's limits (memory: ulimit -v; threads: ulimit -u)"};
}

Result<void> resize(Stage& stage, int threads) {
  try {
    stage.resize(threads);
    return {};
  } catch (const std::system_error& e) {
    return tl::unexpected<Error>(no_thread(e));
  }
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options)
    : clock_(*options.clock), speedup_(options.speedup), failures_(std::move(options.on_skip)) {
  failures_.set_stopper([this] { close_all(); });
}

Pipeline::~Pipeline() {
  close_all();
  for (const auto& stage : stages_) stage->join();
}

void Pipeline::add(Stage::Plan plan) {
  if (lifetime_.with([](const Lifetime& lifetime) { return lifetime.started.has_value(); }))
    throw std::logic_error("stage '" + plan.name + "' was added to a pipeline that already runs");
  stages_.push_back(std::make_unique<Stage>(std::move(plan), failures_, clock_, speedup_));
}

void Pipeline::close_all() const {
  for (const auto& close_input : inputs_to_close_) close_input();
}

void Pipeline::start() {
  lifetime_.with([&](Lifetime& lifetime) {
    if (lifetime.started) throw std::logic_error("a pipeline was started twice");
    lifetime.started = clock_.now();
  });
  try {
    for (const auto& stage : stages_) stage->start();
  } catch (const std::system_error& e) {
    failures_.stop(no_thread(e));
  }
}

void Pipeline::stop() {
  const bool is_running = std::any_of(stages_.begin(), stages_.end(), [](const auto& s) { return !s->is_over(); });
  if (is_running) is_cancelled_ = true;
  close_all();
}

Result<void> Pipeline::join() {
  if (!lifetime_.with([](const Lifetime& lifetime) { return lifetime.started; }))
    throw std::logic_error("a pipeline was joined before its start");
  for (const auto& stage : stages_) stage->join();
  lifetime_.with([&](Lifetime& lifetime) {
    if (!lifetime.ended) lifetime.ended = clock_.now();
  });
  if (auto error = failures_.first()) return tl::unexpected<Error>(std::move(*error));
  if (is_cancelled_) return fail(Fault::cancelled, "stopped before the end");
  return {};
}

Result<void> Pipeline::run() {
  start();
  return join();
}

Result<void> Pipeline::set_threads(std::string_view name, int threads) {
  if (threads < 1)
    return fail(Fault::usage, std::string(name) + ": expected at least 1 thread, found " + std::to_string(threads));
  auto stage = TRY(stage_called(name));
  if (stage->is_source()) return fail(Fault::usage, stage->name() + ": a source has one thread");
  return resize(*stage, threads);
}

Result<void> Pipeline::set_queue(std::string_view name, std::size_t items) {
  if (items < 1) return fail(Fault::usage, std::string(name) + ": expected space for at least 1 item, found 0");
  const auto stage = TRY(stage_called(name));
  if (!stage->has_queue()) return fail(Fault::usage, stage->name() + ": nothing waits behind the last stage");
  stage->set_queue(items);
  return {};
}

Result<Stage*> Pipeline::stage_called(std::string_view name) const {
  std::string known;
  for (const auto& stage : stages_) {
    if (stage->name() == name) return stage.get();
    known += (known.empty() ? "" : ", ") + stage->name();
  }
  return fail(Fault::usage, "no stage is called '" + std::string(name) + "'", "The stages are " + known);
}

PipelineReport Pipeline::report() const {
  const Lifetime lifetime = lifetime_.with([](const Lifetime& s) { return s; });
  PipelineReport report;
  if (lifetime.started) report.elapsed = lifetime.ended.value_or(clock_.now()) - *lifetime.started;
  for (const auto& stage : stages_) report.stages.push_back(stage->report());
  return report;
}

}  // namespace tutti
