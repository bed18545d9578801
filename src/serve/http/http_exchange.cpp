#include "serve/http/http_exchange.h"

#include <utility>

namespace tutti {

void ConnectionExchange::begin(HttpAnswer head, bool streams) {
  {
    const std::lock_guard lock(mutex_);
    if (answer_ || gone_) return;
    answer_ = std::move(head);
    streams_ = streams;
  }
  wake();
}

bool ConnectionExchange::send(std::string_view piece) {
  {
    const std::lock_guard lock(mutex_);
    if (gone_ || ended_ || pending_.size() + piece.size() > most_) return false;
    pending_ += piece;
  }
  wake();
  return true;
}

void ConnectionExchange::end_stream() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake();
}

void ConnectionExchange::on_gone(std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (complete_) return;
    if (!gone_) {
      on_gone_ = std::move(gone);
      return;
    }
  }
  gone();
}

ConnectionExchange::Next ConnectionExchange::next() {
  const std::lock_guard lock(mutex_);
  Next next{.streams = streams_, .gone = gone_};
  if (answer_ && !std::exchange(head_sent_, true)) {
    next.head = std::move(*answer_);
  } else if (head_sent_) {
    next.piece = std::exchange(pending_, {});
    next.ended = ended_;
  }
  return next;
}

void ConnectionExchange::complete() {
  const std::lock_guard lock(mutex_);
  complete_ = true;
  on_gone_ = {};
}

void ConnectionExchange::client_left() {
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    if (complete_ || std::exchange(gone_, true)) return;
    gone = std::exchange(on_gone_, {});
  }
  if (gone) gone();
  wake();
}

void ConnectionExchange::detach() {
  const std::lock_guard lock(mutex_);
  wake_ = {};
}

// Under the lock, so that nothing is woken once the exchange is detached.
void ConnectionExchange::wake() {
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
}

}  // namespace tutti
