#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "link/messages.h"
#include "link/shared_window.h"

namespace tutti {

/// Which windows callers hold at a worker, what each waits for, and what must be sent to the worker so that all of it
/// comes true. Pure: sends nothing, waits for nothing; not thread-safe.
class WindowTable {
 public:
  using Reply = Result<std::variant<Opened, Language, Decoded, Aligned, Transcribed, SpeakersAnalyzed>>;
  using Request =
      std::variant<OpenWindow, DetectLanguage, DecodeWindow, AlignWindow, TranscribeWindow, AnalyzeSpeakers>;
  using Memory = std::shared_ptr<const SharedWindow>;

  // --- the callers' side -----------------------------------------------------------------------------------------
  /// Enters a request; `memory` comes with an OpenWindow, or with AnalyzeSpeakers, which opens none. One request per
  /// window at a time. An error at once: the window is not open, is open already, or the table is closed.
  Result<void> submit(const Request& request, Memory memory = nullptr);
  bool answered(WindowId window) const;
  /// The answer, once. A window that could not be opened is forgotten with it.
  Reply take(WindowId window);
  /// The caller needs no answer any more: the request that waits, if any, fails now with `why`, and what the worker
  /// still sends for the window is ignored. Only `release` may follow.
  void cancel(WindowId window, const Error& why);
  /// Forgets a window; no request of its may be waiting. Unknown ones are fine. Returns its memory, so that a megabyte
  /// need not be freed under the caller's lock.
  Memory release(WindowId window);

  // --- the worker's side -----------------------------------------------------------------------------------------
  struct Order {
    ToWorker message;
    Memory memory{};  // to travel beside it
  };
  /// What must be sent to the worker now, in this order; returned once.
  std::vector<Order> due();
  /// The worker's message about a window. An error (Fault::corrupt): no request is open for it.
  Result<void> on_message(const ToControl& message);

  /// From now on every request is refused; those that no worker has begun fail at once.
  void close(const Error& why);
  /// All requests that wait fail.
  void abandon(const Error& why);

  bool idle() const;  // every request is answered
  bool has_finished_work() const { return has_finished_work_; }

 private:
  enum class Phase { nowhere, opening, open };
  struct Entry {
    OpenWindow facts{};
    Memory memory{};
    Phase phase = Phase::nowhere;
    std::optional<Request> request{};
    bool sent = false;  // the request itself
    std::optional<Reply> reply{};

    bool waiting() const { return request && !reply; }
    bool in_flight() const { return waiting() && (sent || phase == Phase::opening); }
  };

  Entry* find(WindowId window);
  static void send_next(Entry& entry, std::vector<Order>& orders);
  Result<void> opened(const Opened& opened);
  Result<void> finished(WindowId window, Reply reply);
  Result<void> failed(const Failed& failed);

  std::map<WindowId, Entry> entries_;
  std::vector<WindowId> releases_;  // to be sent
  std::set<WindowId> cancelled_;    // by callers; the worker may have answered before it knew
  std::optional<Error> closed_;
  bool has_finished_work_ = false;
};

}  // namespace tutti
