#include "link/window_table.h"

#include <algorithm>
#include <stdexcept>

#include "link/wire.h"

namespace tutti {
namespace {

std::string named(WindowId window) {
  return "window " + std::to_string(window);
}

WindowId window_of(const WindowTable::Request& request) {
  return std::visit([](const auto& requested) { return requested.window; }, request);
}

ToWorker message_of(const WindowTable::Request& request) {
  return std::visit([](const auto& requested) { return ToWorker(requested); }, request);
}

tl::unexpected<Error> unasked(std::string_view kind, WindowId window) {
  return fail(Fault::corrupt,
              "the worker sent " + std::string(kind) + " for " + named(window) + ", which did not request it");
}

/// Ids rise, so that the oldest are forgotten; a worker's answers to them have long come.
constexpr std::size_t kCancelledKept = 4096;

using Answer = WindowTable::Reply::value_type;

std::string_view kind_of(const Answer& answer) {
  return std::visit([](const auto& message) { return name_of(ToControl(message)); }, answer);
}

/// Is `answer` what `request` asks for?
bool answers(const WindowTable::Request& request, const Answer& answer) {
  if (const auto* decode = std::get_if<DecodeWindow>(&request)) {
    const auto* decoded = std::get_if<Decoded>(&answer);
    return decoded && decoded->request == decode->request;
  }
  if (const auto* align = std::get_if<AlignWindow>(&request)) {
    const auto* aligned = std::get_if<Aligned>(&answer);
    return aligned && aligned->request == align->request && aligned->starts.size() == align->text_tokens.size() + 1 &&
           aligned->probabilities.size() == align->text_tokens.size();
  }
  if (std::holds_alternative<AnalyzeSpeakers>(request)) return std::holds_alternative<SpeakersAnalyzed>(answer);
  if (std::holds_alternative<TranscribeWindow>(request)) return std::holds_alternative<Transcribed>(answer);
  return std::holds_alternative<DetectLanguage>(request) && std::holds_alternative<Language>(answer);
}

}  // namespace

WindowTable::Entry* WindowTable::find(WindowId window) {
  const auto at = entries_.find(window);
  return at == entries_.end() ? nullptr : &at->second;
}

Result<void> WindowTable::submit(const Request& request, Memory memory) {
  if (closed_) return tl::unexpected<Error>(*closed_);
  const WindowId window = window_of(request);
  Entry* entry = find(window);
  if (const auto* facts = std::get_if<OpenWindow>(&request)) {
    if (entry || window == 0) return fail(Fault::internal, named(window) + " cannot be opened: it is in use");
    entries_[window] = Entry{.facts = *facts, .memory = std::move(memory), .request = request};
    return {};
  }
  if (std::holds_alternative<AnalyzeSpeakers>(request)) {
    if (entry || window == 0) return fail(Fault::internal, named(window) + " cannot name a request: it is in use");
    entries_[window] = Entry{.memory = std::move(memory), .phase = Phase::open, .request = request};
    return {};
  }
  if (!entry) return fail(Fault::internal, named(window) + " is not open");
  if (entry->request) return fail(Fault::internal, named(window) + " has a request waiting already");
  entry->request = request;
  return {};
}

bool WindowTable::answered(WindowId window) const {
  return entries_.at(window).reply.has_value();
}

WindowTable::Reply WindowTable::take(WindowId window) {
  Entry& entry = entries_.at(window);
  Reply reply = std::move(entry.reply).value();
  const bool never_opened = !reply && std::holds_alternative<OpenWindow>(*entry.request);
  const bool opens_none = std::holds_alternative<AnalyzeSpeakers>(*entry.request);
  entry.reply.reset();
  entry.request.reset();
  entry.sent = false;
  if (opens_none) entry.phase = Phase::nowhere;
  if (never_opened || opens_none) release(window);
  return reply;
}

void WindowTable::cancel(WindowId window, const Error& why) {
  Entry* entry = find(window);
  if (!entry) return;
  cancelled_.insert(window);
  if (cancelled_.size() > kCancelledKept) cancelled_.erase(cancelled_.begin());
  if (entry->waiting()) entry->reply = tl::unexpected<Error>(why);
}

WindowTable::Memory WindowTable::release(WindowId window) {
  Entry* entry = find(window);
  if (!entry) return nullptr;
  if (entry->request) throw std::logic_error(named(window) + " is released while its request is waiting");
  if (entry->phase != Phase::nowhere) releases_.push_back(window);
  Memory memory = std::move(entry->memory);
  entries_.erase(window);
  return memory;
}

std::vector<WindowTable::Order> WindowTable::due() {
  std::vector<Order> orders;
  for (const WindowId window : std::exchange(releases_, {})) orders.emplace_back().message = ReleaseWindow{window};
  for (auto& [window, entry] : entries_)
    if (entry.waiting() && !entry.in_flight()) send_next(entry, orders);
  return orders;
}

// What comes next for a waiting window: first it is opened, then its request is sent.
void WindowTable::send_next(Entry& entry, std::vector<Order>& orders) {
  Order& order = orders.emplace_back();
  if (entry.phase == Phase::nowhere) {
    entry.phase = Phase::opening;
    order.message = entry.facts;
    order.memory = entry.memory;
  } else {
    entry.sent = true;
    order.message = message_of(*entry.request);
    if (std::holds_alternative<AnalyzeSpeakers>(*entry.request)) order.memory = entry.memory;
  }
}

Result<void> WindowTable::on_message(const ToControl& message) {
  if (const auto* opening = std::get_if<Opened>(&message)) return opened(*opening);
  if (const auto* failure = std::get_if<Failed>(&message)) return failed(*failure);
  if (const auto* language = std::get_if<Language>(&message)) {
    if (language->tokens.size() != language->probabilities.size())
      return fail(Fault::corrupt, "the worker sent " + std::to_string(language->tokens.size()) + " languages and " +
                                      std::to_string(language->probabilities.size()) + " probabilities");
    return finished(language->window, *language);
  }
  if (const auto* decoded = std::get_if<Decoded>(&message)) return finished(decoded->window, *decoded);
  if (const auto* aligned = std::get_if<Aligned>(&message)) return finished(aligned->window, *aligned);
  if (const auto* text = std::get_if<Transcribed>(&message)) return finished(text->window, *text);
  if (const auto* speakers = std::get_if<SpeakersAnalyzed>(&message)) return finished(speakers->window, *speakers);
  return fail(Fault::corrupt, "the worker sent " + std::string(name_of(message)) + " without a request for it");
}

Result<void> WindowTable::opened(const Opened& opened) {
  Entry* entry = find(opened.window);
  if (!entry && cancelled_.contains(opened.window)) return {};
  if (!entry || entry->phase != Phase::opening) return unasked("Opened", opened.window);
  entry->phase = Phase::open;
  if (entry->waiting() && std::holds_alternative<OpenWindow>(*entry->request)) entry->reply = Reply(opened);
  return {};
}

Result<void> WindowTable::finished(WindowId window, Reply reply) {
  Entry* entry = find(window);
  if (cancelled_.contains(window)) return {};
  const bool requested = entry && entry->waiting() && entry->sent;
  if (!requested || !answers(*entry->request, *reply)) return unasked(kind_of(*reply), window);
  entry->reply = std::move(reply);
  has_finished_work_ = true;
  return {};
}

Result<void> WindowTable::failed(const Failed& failed) {
  Entry* entry = find(failed.window);
  if (cancelled_.contains(failed.window)) return {};
  if (!entry || !entry->in_flight()) return unasked("Failed", failed.window);
  if (entry->phase == Phase::opening) entry->phase = Phase::nowhere;
  entry->reply = fail(failed.fault, failed.what);
  return {};
}

void WindowTable::close(const Error& why) {
  if (!closed_) closed_ = why;
  for (auto& [window, entry] : entries_)
    if (entry.waiting() && !entry.in_flight()) entry.reply = tl::unexpected<Error>(why);
}

void WindowTable::abandon(const Error& why) {
  for (auto& [window, entry] : entries_)
    if (entry.waiting()) entry.reply = tl::unexpected<Error>(why);
}

bool WindowTable::idle() const {
  return std::ranges::none_of(entries_, [](const auto& at) { return at.second.waiting(); });
}

}  // namespace tutti
