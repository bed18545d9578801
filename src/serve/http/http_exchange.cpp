#include "serve/http/http_exchange.h"

#include <algorithm>
#include <utility>

namespace tutti {

void ConnectionExchange::begin(HttpAnswer head, bool streams) {
  {
    const MutexLock lock(mutex_);
    if (gone_ || ended_) return;
    if (beats_ && beats_->begun) {
      if (streams) return;  // its head is the one that was sent
      pending_ += beats_->of_events() ? "data: " + head.body + "\n" : std::move(head.body);
      ended_ = true;
      cut_ = head.status != beats_->head.status && !beats_->of_events();
    } else {
      if (answer_) return;
      answer_ = std::move(head);
      streams_ = streams;
    }
  }
  wake();
}

bool ConnectionExchange::send(std::string_view piece) {
  {
    const MutexLock lock(mutex_);
    if (gone_ || ended_ || pending_.size() + piece.size() > most_) return false;
    pending_ += piece;
  }
  wake();
  return true;
}

void ConnectionExchange::end_stream() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
  }
  wake();
}

void ConnectionExchange::beat_after(Seconds wait, HttpAnswer head, std::string beat) {
  {
    const MutexLock lock(mutex_);
    if (answer_) return;
    const auto due = std::chrono::steady_clock::now() + duration_of(wait);
    beats_ = Beats{.due = due, .head = std::move(head), .beat = std::move(beat)};
  }
  wake();
}

std::optional<std::chrono::steady_clock::duration> ConnectionExchange::until_beats() const {
  const MutexLock lock(mutex_);
  if (!beats_ || beats_->begun || answer_) return std::nullopt;
  return std::max(beats_->due - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration(0));
}

void ConnectionExchange::begin_beats() {
  const MutexLock lock(mutex_);
  if (!beats_ || beats_->begun || answer_ || std::chrono::steady_clock::now() < beats_->due) return;
  beats_->begun = true;
  answer_ = beats_->head;
  pending_ = beats_->beat;
  streams_ = true;
}

std::string ConnectionExchange::beat() const {
  const MutexLock lock(mutex_);
  return beats_ && beats_->begun && !ended_ ? beats_->beat : "";
}

void ConnectionExchange::on_gone(std::function<void()> gone) {
  {
    const MutexLock lock(mutex_);
    if (complete_) return;
    if (!gone_) {
      on_gone_ = std::move(gone);
      return;
    }
  }
  gone();
}

ConnectionExchange::Next ConnectionExchange::next() {
  const MutexLock lock(mutex_);
  Next next{.streams = streams_, .gone = gone_};
  if (answer_ && !std::exchange(head_sent_, true)) {
    next.head = std::move(*answer_);
  } else if (head_sent_) {
    next.piece = std::exchange(pending_, {});
    next.ended = ended_;
    next.cut = cut_;
  }
  return next;
}

void ConnectionExchange::complete() {
  const MutexLock lock(mutex_);
  complete_ = true;
  on_gone_ = {};
}

void ConnectionExchange::client_left() {
  std::function<void()> gone;
  {
    const MutexLock lock(mutex_);
    if (complete_ || std::exchange(gone_, true)) return;
    gone = std::exchange(on_gone_, {});
  }
  if (gone) gone();
  wake();
}

void ConnectionExchange::detach() {
  const MutexLock lock(mutex_);
  wake_ = {};
}

// Under the lock, so that nothing is woken once the exchange is detached.
void ConnectionExchange::wake() {
  const MutexLock lock(mutex_);
  if (wake_) wake_();
}

}  // namespace tutti
