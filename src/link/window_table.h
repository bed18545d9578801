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

/// Which windows callers hold at a worker, what each waits for, and what must be sent to the present worker so that all
/// of it comes true. Survives workers: a lost one's windows are opened again on the next when they are needed. Pure:
/// sends nothing, waits for nothing; not thread-safe.
///
/// The poison rule: a window in flight when a worker is lost may be what killed it. In flight at two losses, it is a
/// suspect: the next worker serves suspects first and one at a time, until each is cleared by a finished decoding (or
/// language). A window that was lost twice or more, the last time with a worker that had served nothing else, is
/// condemned: its request and all later ones fail, with the evidence. So a worker that dies of something else, however
/// often, condemns no window that gets a turn.
class WindowTable {
 public:
  using Reply = Result<std::variant<Opened, Language, Decoded, Aligned>>;
  using Request = std::variant<OpenWindow, DetectLanguage, DecodeWindow, AlignWindow>;
  using Memory = std::shared_ptr<const SharedWindow>;

  static constexpr int kLossesOfASuspect = 2;

  // --- the callers' side -----------------------------------------------------------------------------------------
  /// Enters a request; `memory` comes with an OpenWindow. One request per window at a time. An error at once: the
  /// window is not open, is open already, is condemned, or the table is closed.
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
    Memory memory{};  // to travel beside an OpenWindow
  };
  /// What must be sent to the present worker now, in this order; returned once.
  std::vector<Order> due();
  /// The worker's message about a window. An error (Fault::corrupt): no request is open for it.
  Result<void> on_message(const ToControl& message);
  /// The worker is lost: all must be sent again to the next. `evidence`: how it ended. Returns the condemned.
  std::vector<WindowId> lost(const std::string& evidence);

  /// From now on every request is refused; those that no worker has begun fail at once.
  void close(const Error& why);
  /// All requests that wait fail.
  void abandon(const Error& why);

  bool idle() const { return waiting() == 0; }
  std::size_t waiting() const;                                   // requests not answered yet
  bool has_finished_work() const { return has_finished_work_; }  // the present worker finished something

 private:
  enum class Phase { nowhere, opening, open };  // on the present worker
  struct Entry {
    OpenWindow facts{};
    Memory memory{};
    Phase phase = Phase::nowhere;
    std::optional<Request> request{};
    bool sent = false;  // the request itself, to the present worker
    std::optional<Reply> reply{};
    int losses = 0;
    std::string evidence{};  // description of each loss
    bool condemned = false;

    bool waiting() const { return request && !reply; }
    bool in_flight() const { return waiting() && (sent || phase == Phase::opening); }
    bool suspect() const { return losses >= kLossesOfASuspect; }
  };

  Entry* find(WindowId window);
  std::size_t in_flight() const;
  void send_next(WindowId window, Entry& entry, std::vector<Order>& orders);
  Result<void> opened(const Opened& opened);
  Result<void> finished(WindowId window, Reply reply);
  Result<void> failed(const Failed& failed);

  std::map<WindowId, Entry> entries_;
  std::vector<WindowId> releases_;  // to be sent to the present worker
  std::set<WindowId> cancelled_;    // by callers; the present worker may have answered before it knew
  std::optional<WindowId> first_;   // the first window that was sent to the present worker
  bool others_ = false;             // ... and others were sent to it, too
  std::optional<Error> closed_;
  bool has_finished_work_ = false;
};

}  // namespace tutti
