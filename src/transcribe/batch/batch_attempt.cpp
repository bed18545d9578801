#include "transcribe/batch/batch_attempt.h"

#include <utility>

namespace tutti {
namespace {

/// The run has the specification once: it is most of what a hundred thousand attempts would take.
Lease without_spec(Lease lease) {
  lease.job.spec = {};
  return lease;
}

}  // namespace

BatchAttempt::BatchAttempt(std::size_t its_index, std::size_t its_worker, Lease its_lease, const BatchJob& its_job,
                           Seconds length)
    : RecordingAttempt(length),
      index(its_index),
      worker(its_worker),
      lease(without_spec(std::move(its_lease))),
      job(its_job) {}

JobStatus BatchAttempt::status() const {
  JobStatus status{.id = std::to_string(id()),
                   .name = job.spec.name,
                   .device = devices().value_or(""),
                   .done = position(),
                   .length = length()};
  if (!status.device.empty()) return status;
  if (publishing_)
    status.waiting_for = "its outputs are written";
  else if (no_space_)
    status.waiting_for = "its decoded audio has no disk space";
  else if (!is_decoded())
    status.waiting_for = "its audio is decoded";
  return status;
}

bool BatchAttempt::is_running() const {
  return publishing_ || (!is_decoded() && !no_space_) || !devices().value_or("").empty();
}

}  // namespace tutti
