#include "balance/device_record.h"

#include <algorithm>
#include <cmath>

#include "balance/window_cost.h"

namespace tutti {
namespace {

constexpr double kOverdueLeft = 0.05;  // share of a piece still to do, where it takes longer than expected
constexpr Seconds kFitsAgain{600};
constexpr int kMostCaution = 32;
constexpr double kLeastLeft = 0.1;  // share of a device's speed that others leave, as far as it is believed

}  // namespace

DeviceRecord::DeviceRecord(DeviceFacts facts, const BreakerOptions& breaker, Seconds now)
    : facts_(std::move(facts)),
      health_(breaker, facts_.starting),
      speed_(facts_.speed, facts_.enough),
      believed_(facts_.speed),
      reserved_(facts_.model_memory),
      advanced_(now),
      added_(now),
      idle_since_(now) {
  if (facts_.starting) why_idle_ = Idle::starting;  // also before the first decision
}

void DeviceRecord::advance(Seconds now) {
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
      idle_[why_idle_.value_or(Idle::no_job)] += passed;
  }
  health_.advance(now);
  while (fits_ && now >= fits_until_) fits_one_more(fits_until_);
}

void DeviceRecord::idle_because(std::optional<Idle> why) {
  if (std::exchange(why_idle_, why) != why) idle_since_ = advanced_;
}

std::optional<Seconds> DeviceRecord::nothing_came_since(Seconds since) {
  if (flights_.empty()) return {};
  const Seconds from = std::min(advanced_, std::max(since, busy_since_));
  busy_ -= advanced_ - from;
  idle_[Idle::fault] += advanced_ - from;
  busy_since_ = advanced_;
  return probing() ? std::nullopt : std::optional(from);
}

void DeviceRecord::another_stalled(Seconds since) {
  const Idle why = why_idle_.value_or(Idle::no_job);
  if (!flights_.empty() || (why != Idle::no_job && why != Idle::left_to_faster)) return;
  const Seconds waited = std::max(Seconds::zero(), advanced_ - std::max(since, idle_since_));
  idle_[why] -= waited;
  idle_[Idle::stalled] += waited;
  idle_since_ = advanced_;
}

void DeviceRecord::add(Flight flight) {
  if (flights_.empty()) busy_since_ = advanced_;
  flight.started = advanced_;
  reserved_.value += flight.reserved.value;
  if (!flight.canary) {
    ++begun_;
    const auto it = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& t) { return t.first == flight.job; });
    if (it != jobs_.end())
      ++it->second;
    else
      jobs_.emplace_back(flight.job, 1);
  }
  flights_.push_back(std::move(flight));
  starved_ = {};
  why_idle_.reset();
}

std::optional<Flight> DeviceRecord::remove(GrantId id) {
  const auto at = std::find_if(flights_.begin(), flights_.end(), [&](const Flight& f) { return f.id == id; });
  if (at == flights_.end()) return {};
  Flight flight = std::move(*at);
  flights_.erase(at);
  if (flights_.empty()) idle_since_ = advanced_;
  reserved_.value -= flight.reserved.value;
  if (flight.canary) return flight;
  const auto it = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& t) { return t.first == flight.job; });
  if (--it->second == 0) jobs_.erase(it);
  return flight;
}

void DeviceRecord::correct_length(JobKey job, Seconds audio) {
  for (Flight& flight : flights_)
    if (!flight.canary && flight.job == job) flight.audio = audio;
}

bool DeviceRecord::has_job(JobKey job) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& t) { return t.first == job; });
}

bool DeviceRecord::probing() const {
  return std::any_of(flights_.begin(), flights_.end(), [](const Flight& f) { return f.canary; });
}

bool DeviceRecord::runs_alone() const {
  return std::any_of(flights_.begin(), flights_.end(), [](const Flight& f) { return f.alone; });
}

void DeviceRecord::believe(double speed) {
  believed_ = speed;
  const double others = load_ ? load_->foreign.value_or(0) : 0;
  speed_.believe(believed_ * std::clamp(1 - others, kLeastLeft, 1.0));
}

/// Once pieces were measured, others are in what those took.
void DeviceRecord::set_load(const DeviceLoad& load) {
  load_ = load;
  if (windows_done_ == 0) believe(believed_);
}

double DeviceRecord::utilisation() const {
  if (!load_) return flights_.empty() ? 0 : 1;
  return std::clamp(load_->busy.value_or(0), 0.0, 1.0);
}

double DeviceRecord::speed() const {
  return speed_.speed(facts_.enough);
}

double DeviceRecord::single() const {
  return speed_.speed(1);
}

std::optional<double> DeviceRecord::error(Seconds piece) const {
  const auto measured = speed_.error();
  return measured ? std::optional(std::hypot(*measured, speed_.doubt(piece))) : std::nullopt;
}

double DeviceRecord::audio_in_flight() const {
  const double rate = speed_.speed(pieces());
  double left = 0;
  for (const Flight& flight : flights_) {
    const double work = flight.audio.count() + fixed().count() * rate;
    const double expected = work - flight.share.count() * rate;
    left += expected > 0 ? expected : kOverdueLeft * work;
  }
  return left;
}

Seconds DeviceRecord::drain() const {
  return Seconds(audio_in_flight() / speed());
}

std::optional<Seconds> DeviceRecord::ready_at() const {
  if (health_.state() != DeviceState::starting || facts_.load_time <= Seconds::zero()) return {};
  const Seconds at = starting_since() + facts_.load_time;
  return at > advanced_ ? std::optional(at) : std::nullopt;
}

std::optional<Seconds> DeviceRecord::ready_in() const {
  const auto at = ready_at();
  return at ? std::optional(*at - advanced_) : std::nullopt;
}

void DeviceRecord::got_ready() {
  if (health_.state() == DeviceState::starting) facts_.load_time = advanced_ - starting_since();
  foreign_when_ready_ = foreign_;
  begun_ = 0;
}

void DeviceRecord::learned(const Flight& flight, Seconds now) {
  if (flight.canary) return;  // encoded alone, so many times as fast as what is also decoded
  const Seconds length = now - flight.started;
  if (length > Seconds::zero()) speed_.measured(flight.audio, flight.share, flight.crowd / length.count());
  audio_done_ += flight.audio;
  windows_done_ += windows_in(flight.audio);
}

int DeviceRecord::slots() const {
  const int most = fits_ ? std::min(*fits_, facts_.slots) : facts_.slots;
  return health_.allowed(most);
}

std::optional<Bytes> DeviceRecord::free_memory(const DispatcherOptions& options) const {
  if (!facts_.memory) return {};
  const auto total = facts_.memory->value;
  const auto share = static_cast<std::int64_t>(options.headroom * static_cast<double>(total));
  const auto headroom = std::max(options.least_headroom.value, share);
  // The driver's figure for our own use does not count: a worker keeps freed memory of its windows for the next ones.
  return Bytes{std::max<std::int64_t>(0, total - headroom - foreign_.value - reserved_.value)};
}

bool DeviceRecord::holds_one_more(const DispatcherOptions& options) const {
  const auto free = free_memory(options);
  if (!free || facts_.piece_memory.value <= free->value) return true;
  return flights_.empty() && (foreign_.value <= foreign_when_ready_.value || starved_ >= kFitsAgain);
}

void DeviceRecord::exhausted(GrantId grant, GrantId latest, int pieces, Seconds now) {
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

int DeviceRecord::enough_held() const {
  constexpr int kRounds = 2;
  return kRounds * caution_ * *fits_;
}

void DeviceRecord::held(Seconds now) {
  if (fits_ && ++held_ >= enough_held()) fits_one_more(now);
}

void DeviceRecord::fits_one_more(Seconds at) {
  held_ = 0;
  fits_until_ = at + kFitsAgain;
  if (++*fits_ < facts_.slots) return;
  fits_.reset();
  memory_changes_.push_back({at, false, "all " + std::to_string(facts_.slots) + " windows at once are tried again"});
}

std::optional<Seconds> DeviceRecord::wake_at() const {
  std::optional<Seconds> soonest = health_.wake_at();
  if (fits_ && (!soonest || fits_until_ < *soonest)) soonest = fits_until_;
  if (const auto ready = ready_at(); ready && (!soonest || *ready < *soonest)) soonest = ready;
  const Seconds tries_again = advanced_ + kFitsAgain - starved_;
  if (why_idle_ == Idle::memory && tries_again > advanced_ && (!soonest || tries_again < *soonest))
    soonest = tries_again;
  return soonest;
}

int DeviceRecord::capacity(const DispatcherOptions& options) const {
  const auto free = free_memory(options);
  if (!free || facts_.piece_memory.value == 0) return slots();
  const std::int64_t fit = pieces() + free->value / facts_.piece_memory.value;
  const int least = holds_one_more(options) ? pieces() + 1 : pieces();
  return std::min<int>(slots(), std::max<int>(least, static_cast<int>(std::min<std::int64_t>(fit, facts_.slots))));
}

DeviceView DeviceRecord::view(Seconds now, const DispatcherOptions& options) const {
  const Seconds usual = speed_.usual_piece();
  std::optional<MemoryLoss> loss;
  if (loss_.times > 0) loss = {.times = loss_.times, .all = facts_.slots, .least = loss_.least, .now = fits_};
  return {.id = facts_.id,
          .state = health_.state(),
          .state_reason = health_.reason(),
          .state_since = health_.since(),
          .pieces = pieces(),
          .jobs = jobs(),
          .slots = capacity(options),
          .job_cap = facts_.job_cap,
          .reserved = reserved_,
          .speed = through(usual),
          .rate = speed_.through(usual, std::max(1, pieces())),
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
