#include "balance/device_book.h"

#include <algorithm>
#include <cmath>

#include "balance/window_cost.h"

namespace tutti {
namespace {

constexpr double kOverdueLeft = 0.05;  // of a piece that takes longer than expected
constexpr Seconds kFitsAgain{600};
constexpr int kMostCaution = 32;

}  // namespace

DeviceBook::DeviceBook(DeviceFacts facts, const BreakerOptions& breaker, Seconds now)
    : facts_(std::move(facts)),
      health_(breaker, facts_.starting),
      speed_(facts_.speed, facts_.enough),
      reserved_(facts_.model_memory),
      advanced_(now),
      added_(now),
      idle_since_(now) {
  if (facts_.starting) why_idle_ = Idle::starting;  // also before anybody has asked for a decision
}

void DeviceBook::advance(Seconds now) {
  const Seconds passed = now - advanced_;
  if (passed > Seconds::zero()) {
    advanced_ = now;
    const auto pieces = static_cast<double>(flights_.size());
    for (Flight& flight : flights_) {
      flight.share += passed / pieces;
      flight.crowd += passed.count() * pieces;
    }
    if (flights_.empty() && why_idle_ == Idle::memory) starved_ += passed;
    if (!flights_.empty())
      busy_ += passed;
    else
      idle_[static_cast<std::size_t>(why_idle_.value_or(Idle::no_task))] += passed;
  }
  health_.advance(now);
  while (fits_ && now >= fits_until_) fits_one_more(fits_until_);
}

void DeviceBook::idle_because(std::optional<Idle> why) {
  if (std::exchange(why_idle_, why) != why) idle_since_ = advanced_;
}

std::optional<Seconds> DeviceBook::nothing_came_since(Seconds since) {
  if (flights_.empty()) return {};
  const Seconds from = std::min(advanced_, std::max(since, busy_since_));
  busy_ -= advanced_ - from;
  idle_[static_cast<std::size_t>(Idle::fault)] += advanced_ - from;
  busy_since_ = advanced_;
  return probing() ? std::nullopt : std::optional(from);
}

void DeviceBook::another_stalled(Seconds since) {
  const Idle why = why_idle_.value_or(Idle::no_task);
  if (!flights_.empty() || (why != Idle::no_task && why != Idle::left_to_faster)) return;
  const Seconds waited = std::max(Seconds::zero(), advanced_ - std::max(since, idle_since_));
  idle_[static_cast<std::size_t>(why)] -= waited;
  idle_[static_cast<std::size_t>(Idle::stalled)] += waited;
  idle_since_ = advanced_;
}

void DeviceBook::add(Flight flight) {
  if (flights_.empty()) busy_since_ = advanced_;
  flight.started = advanced_;
  reserved_.value += flight.reserved.value;
  if (!flight.canary) {
    const auto it = std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t.first == flight.task; });
    if (it != tasks_.end())
      ++it->second;
    else
      tasks_.emplace_back(flight.task, 1);
  }
  flights_.push_back(std::move(flight));
  starved_ = {};
  why_idle_.reset();
}

std::optional<Flight> DeviceBook::remove(GrantId id) {
  const auto at = std::find_if(flights_.begin(), flights_.end(), [&](const Flight& f) { return f.id == id; });
  if (at == flights_.end()) return {};
  Flight flight = std::move(*at);
  flights_.erase(at);
  if (flights_.empty()) idle_since_ = advanced_;
  reserved_.value -= flight.reserved.value;
  if (flight.canary) return flight;
  const auto it = std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t.first == flight.task; });
  if (--it->second == 0) tasks_.erase(it);
  return flight;
}

void DeviceBook::correct_length(TaskKey task, Seconds audio) {
  for (Flight& flight : flights_)
    if (!flight.canary && flight.task == task) flight.audio = audio;
}

bool DeviceBook::has_task(TaskKey task) const {
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t.first == task; });
}

bool DeviceBook::probing() const {
  return std::any_of(flights_.begin(), flights_.end(), [](const Flight& f) { return f.canary; });
}

bool DeviceBook::runs_alone() const {
  return std::any_of(flights_.begin(), flights_.end(), [](const Flight& f) { return f.alone; });
}

double DeviceBook::speed() const {
  return speed_.speed(facts_.enough);
}

double DeviceBook::single() const {
  return speed_.speed(1);
}

std::optional<double> DeviceBook::error(Seconds piece) const {
  const auto measured = speed_.error();
  return measured ? std::optional(std::hypot(*measured, speed_.doubt(piece))) : std::nullopt;
}

double DeviceBook::audio_in_flight() const {
  const double pace = speed_.speed(pieces());
  double left = 0;
  for (const Flight& flight : flights_) {
    const double work = flight.audio.count() + fixed().count() * pace;
    const double expected = work - flight.share.count() * pace;
    left += expected > 0 ? expected : kOverdueLeft * work;
  }
  return left;
}

Seconds DeviceBook::drain() const {
  return Seconds(audio_in_flight() / speed());
}

std::optional<Seconds> DeviceBook::ready_at() const {
  if (health_.state() != DeviceState::starting || facts_.load_time <= Seconds::zero()) return {};
  const Seconds at = starting_since() + facts_.load_time;
  return at > advanced_ ? std::optional(at) : std::nullopt;
}

std::optional<Seconds> DeviceBook::ready_in() const {
  const auto at = ready_at();
  return at ? std::optional(*at - advanced_) : std::nullopt;
}

void DeviceBook::got_ready() {
  if (health_.state() == DeviceState::starting) facts_.load_time = advanced_ - starting_since();
  foreign_when_ready_ = foreign_;
}

void DeviceBook::learned(const Flight& flight, Seconds now) {
  if (flight.canary) return;  // encoded alone, so many times as fast as what is also decoded
  const Seconds length = now - flight.started;
  if (length > Seconds::zero()) speed_.measured(flight.audio, flight.share, flight.crowd / length.count());
  audio_done_ += flight.audio;
  windows_done_ += windows_in(flight.audio);
}

int DeviceBook::slots() const {
  const int most = fits_ ? std::min(*fits_, facts_.slots) : facts_.slots;
  return health_.allowed(most);
}

std::optional<Bytes> DeviceBook::free_memory(const DispatcherOptions& options) const {
  if (!facts_.memory) return {};
  const auto total = facts_.memory->value;
  const auto share = static_cast<std::int64_t>(options.headroom * static_cast<double>(total));
  const auto headroom = std::max(options.least_headroom.value, share);
  // Not what the driver says of us: a worker keeps what its windows have given back, for the next ones.
  return Bytes{std::max<std::int64_t>(0, total - headroom - foreign_.value - reserved_.value)};
}

bool DeviceBook::holds_one_more(const DispatcherOptions& options) const {
  const auto free = free_memory(options);
  if (!free || facts_.piece_memory.value <= free->value) return true;
  return flights_.empty() && (foreign_.value <= foreign_when_ready_.value || starved_ >= kFitsAgain);
}

void DeviceBook::exhausted(GrantId grant, GrantId latest, int pieces, Seconds now) {
  ++loss_.times;
  if (grant <= exhausted_at_) return;
  exhausted_at_ = latest;
  if (loss_.least > 0) caution_ = std::min(kMostCaution, 2 * caution_);
  fits_ = std::max(1, std::min(fits_.value_or(facts_.slots), pieces) / 2);
  fits_until_ = now + kFitsAgain;
  held_ = 0;
  loss_.least = loss_.least > 0 ? std::min(loss_.least, *fits_) : *fits_;
  memory_changes_.push_back({now, true,
                             "out of memory with " + std::to_string(pieces) + " windows in flight: at most " +
                                 std::to_string(*fits_) + " from now on, and one more when " +
                                 std::to_string(enough_held()) + " have been done"});
}

int DeviceBook::enough_held() const {
  constexpr int kRounds = 2;
  return kRounds * caution_ * *fits_;
}

void DeviceBook::held(Seconds now) {
  if (fits_ && ++held_ >= enough_held()) fits_one_more(now);
}

void DeviceBook::fits_one_more(Seconds at) {
  held_ = 0;
  fits_until_ = at + kFitsAgain;
  if (++*fits_ < facts_.slots) return;
  fits_.reset();
  memory_changes_.push_back({at, false, "all " + std::to_string(facts_.slots) + " windows at once are tried again"});
}

std::optional<Seconds> DeviceBook::wake_at() const {
  std::optional<Seconds> soonest = health_.wake_at();
  if (fits_ && (!soonest || fits_until_ < *soonest)) soonest = fits_until_;
  if (const auto ready = ready_at(); ready && (!soonest || *ready < *soonest)) soonest = ready;
  const Seconds tries_again = advanced_ + kFitsAgain - starved_;
  if (why_idle_ == Idle::memory && tries_again > advanced_ && (!soonest || tries_again < *soonest))
    soonest = tries_again;
  return soonest;
}

int DeviceBook::places(const DispatcherOptions& options) const {
  const auto free = free_memory(options);
  if (!free || facts_.piece_memory.value == 0) return slots();
  const std::int64_t fit = pieces() + free->value / facts_.piece_memory.value;
  const int least = holds_one_more(options) ? pieces() + 1 : pieces();
  return std::min<int>(slots(), std::max<int>(least, static_cast<int>(std::min<std::int64_t>(fit, facts_.slots))));
}

DeviceView DeviceBook::view(Seconds now, const DispatcherOptions& options) const {
  const Seconds usual = speed_.usual_piece();
  std::optional<MemoryLoss> loss;
  if (loss_.times > 0) loss = {.times = loss_.times, .all = facts_.slots, .least = loss_.least, .now = fits_};
  return {.id = facts_.id,
          .state = health_.state(),
          .state_reason = health_.reason(),
          .state_since = health_.since(),
          .pieces = pieces(),
          .tasks = tasks(),
          .slots = places(options),
          .task_cap = facts_.task_cap,
          .reserved = reserved_,
          .speed = through(usual),
          .pace = speed_.through(usual, std::max(1, pieces())),
          .single = speed_.through(std::max(usual, kFullWindow), 1),
          .error = speed_.error(),
          .audio_done = audio_done_,
          .windows_done = windows_done_,
          .in_service = now - added_,
          .busy = busy_,
          .idle = idle_,
          .why_idle = why_idle_,
          .memory_loss = loss};
}

}  // namespace tutti
