#include "serve/jobs/job_runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/numbers.h"
#include "serve/jobs/job_json.h"

namespace tutti {
namespace {

constexpr Seconds kLookAgain{1};  // at the store where a claim failed; what else is to be claimed wakes the thread
constexpr std::chrono::seconds kBeat{1};
/// That also finds jobs whose wait is over, and those of other processes.
constexpr int kLookAfterBeats = kLookAfterLeasesEvery / kBeat;
/// Jobs beyond those in work, so that none waits for the store where one ends; and as many interactive ones again.
constexpr std::size_t kAhead = 2;

void log_failed(const char* what, const Error& error) {
  log(Level::warning, std::string(what) + ": " + error.text());
}

}  // namespace

/// One claim of a job. Knows how it ended before the service counts its request as ended.
class JobRunner::Attempt final : public SpeechListener, public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(JobRunner& runner, Lease lease, JobRequest request)
      : runner_(runner), lease_(std::move(lease)), request_(std::move(request)) {}

  void submit();
  /// The job is released, to be claimed again later; also before `submit`. `why` is for the store.
  void put_back(const std::string& why) {
    ticket_.with([&](Ticket& own) { own.release_reason = why; });
    stop(/*cancelled=*/false);
  }

  void on_fetched() override { runner_.parts_.events.phase(id(), "decoding"); }
  void on_audio(Seconds duration) override {
    runner_.parts_.events.audio(id(), duration);
    if (auto set = runner_.leases_.set_length(lease_.key, duration); !set)
      log_failed("the length of a job could not be recorded", set.error());
  }
  void on_segments(Seconds position, const std::vector<Segment>& fresh) override {
    runner_.parts_.events.segments(id(), position, fresh);
  }
  void done(TranscribedFile file) override;
  void failed(const Error& error) override;

 private:
  JobId id() const { return lease_.key.job; }
  Result<OwnedFd> open_audio(const std::function<bool()>& go_on);
  double progress() const {
    const auto progress = runner_.parts_.events.progress(id());
    return progress ? progress->share() : 0;
  }
  /// Also before `submit` has its ticket, which it cancels then. `cancelled`: its client has cancelled it.
  void stop(bool cancelled) {
    std::shared_ptr<SpeechTicket> ticket;
    ticket_.with([&](Ticket& own) {
      own.stopped = true;
      own.cancelled |= cancelled;
      ticket = own.held;
    });
    if (ticket) ticket->cancel();
  }
  void over() {
    ticket_.with([](Ticket& own) { own = {.held = nullptr, .over = true}; });
    runner_.settled(id());
  }

  /// Its request has us as its listener: one of the two must be dropped first.
  struct Ticket {
    std::shared_ptr<SpeechTicket> held{};
    bool over = false;
    bool stopped = false;
    bool cancelled = false;
    std::string release_reason = "the server stopped";
  };

  JobRunner& runner_;
  const Lease lease_;
  const JobRequest request_;
  Guarded<Ticket> ticket_{};
};

void JobRunner::Attempt::submit() {
  const auto self = shared_from_this();
  SpeechRequest request{.fetch = [self](const std::function<bool()>& go_on) { return self->open_audio(go_on); },
                        .id = std::to_string(id()),
                        .name = lease_.job.spec.name,
                        .options = request_.form.options,
                        .client = lease_.job.spec.batch,
                        .urgency = lease_.job.spec.job_class,
                        .priority = lease_.job.spec.priority,
                        .listener = self};
  runner_.leases_.attach(lease_.key, {.progress = [self] { return self->progress(); },
                                      .revoked = [self](bool) { self->stop(/*cancelled=*/false); },
                                      .stop = [self] { self->stop(/*cancelled=*/true); }});
  // A cancellation between its claim and here has found nothing to stop.
  if (runner_.is_cancelled_in_store(id())) runner_.leases_.renew();
  const auto ticket = runner_.parts_.service.submit(std::move(request));
  const bool stopped = ticket_.with([&](Ticket& own) {
    if (!own.over) own.held = ticket;
    return own.stopped;
  });
  if (stopped) ticket->cancel();
}

Result<OwnedFd> JobRunner::Attempt::open_audio(const std::function<bool()>& go_on) {
  const JobParts& parts = runner_.parts_;
  if (request_.source == JobRequest::Source::url) parts.events.phase(id(), "fetching");
  return parts.files.open_audio(request_, lease_.job.spec.key, go_on);
}

void JobRunner::Attempt::done(TranscribedFile file) {
  const JobParts& parts = runner_.parts_;
  const std::string& key = lease_.job.spec.key;
  const std::vector<OutputContent> outputs{
      {JobFiles::result_of(key), result_json(file.transcript, facts_of(file.outcome))}};
  const PublishFolders folders{.staging = parts.files.staging(), .spare = {}, .existing = Existing::replace};
  // Other users may not look into it; why it cannot be made is what publishing reports.
  (void)make_private_folder(folders.staging);
  const AttemptUse use{.audio = file.outcome.duration, .busy = file.outcome.spent.worker()};
  const auto published = runner_.leases_.publish(lease_, outputs, use, folders);
  if (!published) return failed(published.error());
  if (published->left_staged) log(Level::warning, published->left_staged->text());
  if (published->held) {
    parts.files.keep_result(key);
    parts.files.remove_upload(key);
    runner_.state_.with([&](State& state) { state.audio_done += file.outcome.duration; });
  }
  over();
}

void JobRunner::Attempt::failed(const Error& error) {
  LeaseSession& leases = runner_.leases_;
  if (error.fault != Fault::cancelled) {
    runner_.fail(lease_.key, {.kind = failure_class_of(error), .reason = error.text()});
    return over();
  }
  const auto [cancelled, reason] =
      ticket_.with([](const Ticket& own) { return std::pair(own.cancelled, own.release_reason); });
  const auto ended = cancelled ? leases.cancelled(lease_.key) : leases.release(lease_.key, reason);
  if (!ended) log_failed("how a job ended could not be recorded", ended.error());
  over();
}

JobRunner::JobRunner(const JobParts& parts)
    : parts_(parts),
      space_({{.folder = parts.files.folder(), .what = "the results of jobs"}},
             "results are written as soon as they can", [] {}),
      leases_(parts.queue, parts.records,
              [this](Bytes needed, const auto& write) { return space_.retry_until_written(needed, write); }) {
  claiming_ = std::jthread([this] { work(); });
  watching_ = std::make_unique<PeriodicThread>(kBeat, [this] { look_after_leases(); });
}

JobRunner::~JobRunner() {
  watching_.reset();
  state_.change([](State& state) { state.over = true; });
}

void JobRunner::wake(const std::string& batch) {
  state_.change([&](State& state) {
    if (std::ranges::find(state.clients, batch) == state.clients.end()) state.clients.push_back(batch);
    ++state.wakes;
    state.woken = true;
  });
}

void JobRunner::cancel(JobId job) {
  leases_.renew();
  report({job}, /*ending=*/true);
}

void JobRunner::stop_claiming() {
  state_.change([](State& state) { state.claims = false; });
}

void JobRunner::abort() {
  stop_claiming();
  space_.close();
}

std::size_t JobRunner::in_work() const {
  return state_.with([](const State& state) { return state.running.size(); });
}

bool JobRunner::has_waiting() const {
  const auto batches = parts_.admin.waiting_batches(batch_of_client(""));
  return !batches || !batches->empty();
}

std::string JobRunner::why_waits(const Job& job) const {
  return why_job_waits(job, parts_.queue.now(), in_work(), parts_.service.control().held());
}

/// While no device takes work, jobs of which nothing is done wait in the store: there they can be given a priority.
void JobRunner::put_back_what_waits() {
  const auto held = parts_.service.control().held();
  if (!held) return;
  for (const JobStatus& job : parts_.service.control().status().in_work) {
    if (!job.device.empty() || job.done > Seconds(0)) continue;
    const auto attempt = state_.with([&](const State& state) -> std::shared_ptr<Attempt> {
      const auto id = number_in<JobId>(job.id);
      const auto found = id ? state.running.find(*id) : state.running.end();
      return found == state.running.end() ? nullptr : found->second;
    });
    if (attempt) attempt->put_back(*held);
  }
}

Seconds JobRunner::audio_done() const {
  return state_.with([](const State& state) { return state.audio_done; });
}

void JobRunner::work() {
  const std::size_t most = parts_.service.bulk_at_once() + kAhead;
  find_clients();
  for (;;) {
    state_.wait_for(kLookAgain, [&](const State& state) {
      return state.over || (state.woken && state.claims && state.running.size() < 2 * most);
    });
    bool over = false;
    state_.with([&](State& state) {
      over = state.over;
      state.woken = false;
    });
    if (over) return;
    while (auto lease = claim_next()) start(std::move(*lease));
  }
}

/// The most urgent class first, and within it the clients in turn.
std::optional<Lease> JobRunner::claim_next() {
  const std::size_t most = parts_.service.bulk_at_once() + kAhead;
  const auto free = [&](std::size_t limit) {
    return state_.with([&](const State& state) { return state.claims && !state.over && state.running.size() < limit; });
  };
  if (!free(2 * most) || parts_.service.control().held()) return std::nullopt;
  if (auto lease = claim_of_a_client(JobClass::interactive)) return lease;
  if (!free(most)) return std::nullopt;
  if (auto lease = claim_of_a_client(JobClass::normal)) return lease;
  return claim_of_a_client(JobClass::batch);
}

std::optional<Lease> JobRunner::claim_of_a_client(JobClass most) {
  std::uint64_t wakes = 0;
  const auto clients = state_.with([&](const State& state) {
    wakes = state.wakes;
    return state.clients;
  });
  for (const std::string& client : clients) {
    auto lease = leases_.claim({.batch = client, .most = most});
    if (!lease) {
      log_failed("no job could be claimed", lease.error());
      return std::nullopt;
    }
    if (!*lease) {
      // It has no job of any class: it is named again when it gets one, or when one's wait is over.
      if (most == JobClass::batch)
        state_.with([&](State& state) {
          if (state.wakes == wakes) std::erase(state.clients, client);
        });
      continue;
    }
    state_.with([&](State& state) {
      if (std::erase(state.clients, client) > 0) state.clients.push_back(client);
    });
    return std::move(*lease);
  }
  return std::nullopt;
}

void JobRunner::start(Lease lease) {
  const JobId job = lease.key.job;
  const auto fields = fields_of(lease.job);
  auto request = fields ? read_job_request(*fields, parts_.usual)
                        : tl::unexpected<ApiError>({.message = "what was requested is not known any more"});
  if (request && !parts_.models.contains(request->form.model))
    request = tl::unexpected<ApiError>({.message = "model: '" + request->form.model.substr(0, 100) +
                                                   "' is not loaded here any more; this server has '" +
                                                   parts_.models.own() + "'"});
  if (!request) {
    fail(lease.key, {FailureClass::permanent, request.error().message, {}});
    return report({job}, /*ending=*/true);
  }
  const auto attempt = std::make_shared<Attempt>(*this, std::move(lease), std::move(*request));
  state_.with([&](State& state) { state.running[job] = attempt; });
  parts_.events.begin(job);
  report({job});
  attempt->submit();
}

void JobRunner::fail(const LeaseKey& key, const Failure& failure) {
  if (auto failed = leases_.fail(key, failure); !failed)
    log_failed("how a job ended could not be recorded", failed.error());
}

bool JobRunner::is_cancelled_in_store(JobId job) const {
  const auto found = parts_.admin.jobs({.ids = {job}}, 0, 1);
  return found && !found->empty() && found->front().cancel_requested;
}

void JobRunner::settled(JobId job) {
  parts_.events.end(job);
  state_.change([&](State& state) {
    state.running.erase(job);
    state.woken = true;
  });
  report({job}, /*ending=*/true);
}

void JobRunner::report(const std::vector<JobId>& jobs, bool ending) {
  if (jobs.empty()) return;
  const auto found = parts_.admin.jobs({.ids = jobs}, 0, jobs.size());
  if (!found) return;
  for (const Job& job : *found) {
    const std::string json = json_line(job_json(job, parts_.events.progress(job.id), why_waits(job)));
    parts_.events.state(job.id, json, is_final(job.state));
    if (ending && is_final(job.state)) call_back(job, json);
  }
}

void JobRunner::call_back(const Job& job, const std::string& json) {
  const auto fields = fields_of(job);
  if (!fields) return;
  const auto found = std::ranges::find(*fields, "callback", &FormFields::value_type::first);
  if (found == fields->end()) return;
  if (auto address = parts_.files.unsealed(found->second)) parts_.callbacks.send(std::move(*address), json);
}

void JobRunner::find_clients() {
  const auto batches = parts_.admin.waiting_batches(batch_of_client(""));
  if (!batches) return log_failed("the clients with jobs could not be found", batches.error());
  for (const std::string& batch : *batches) wake(batch);
}

/// Looks after the leases, and reports what other processes have done to jobs.
void JobRunner::look_after_leases() {
  put_back_what_waits();
  report(parts_.events.followed());
  if (++beats_ % kLookAfterBeats != 0) return;
  leases_.look_after();
  find_clients();
}

}  // namespace tutti
