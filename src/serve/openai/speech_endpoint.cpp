#include "serve/openai/speech_endpoint.h"

#include <fcntl.h>

#include <atomic>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "serve/http/multipart.h"
#include "serve/openai/api_error.h"
#include "serve/openai/live_upload.h"
#include "serve/openai/speech_answer.h"
#include "serve/openai/speech_form.h"

namespace tutti {
namespace {

/// Proxies cut a connection on which nothing comes for a minute.
constexpr Seconds kBeatAfter{20};

ApiError failure_of(const Error& error, bool revoked) {
  ApiError api = api_error_of(error, "file");
  if (!revoked) return api;
  api.message = "an operator has cancelled this request";
  api.code = "request_cancelled";
  api.should_retry = false;
  return api;
}

HttpAnswer events_head(const SpeechForm& form) {
  HttpAnswer head{.type = "text/event-stream; charset=utf-8", .headers = {{"Cache-Control", "no-cache"}}};
  name_ignored(head, form.ignored);
  return head;
}

/// Answers with the whole transcript. JSON may begin with blanks: they keep the connection of one that waits.
class WholeAnswer final : public SpeechListener {
 public:
  WholeAnswer(SpeechForm form, std::shared_ptr<HttpExchange> exchange)
      : form_(std::move(form)), exchange_(std::move(exchange)) {
    HttpAnswer head;
    name_ignored(head, form_.ignored);
    if (form_.format == SpeechFormat::json || form_.format == SpeechFormat::verbose_json ||
        form_.format == SpeechFormat::diarized_json)
      exchange_->beat_after(kBeatAfter, std::move(head), "\n");
  }

  void done(TranscribedFile file) override {
    auto answer = speech_answer(file.transcript, facts_of(file.outcome), form_);
    if (!answer) return failed(answer.error());
    name_ignored(*answer, form_.ignored);
    exchange_->answer(std::move(*answer));
  }
  void on_revoked() override { revoked_ = true; }
  void failed(const Error& error) override { exchange_->answer(answer_of(failure_of(error, revoked_))); }

 private:
  const SpeechForm form_;
  const std::shared_ptr<HttpExchange> exchange_;
  std::atomic<bool> revoked_{false};
};

/// Answers with events. What is wrong with a recording is found before the first of them.
class StreamedAnswer final : public SpeechListener {
 public:
  StreamedAnswer(SpeechForm form, std::shared_ptr<HttpExchange> exchange)
      : form_(std::move(form)), exchange_(std::move(exchange)) {
    exchange_->beat_after(kBeatAfter, events_head(form_), ": keepalive\n\n");
  }

  void on_segments(Seconds /*position*/, const std::vector<Segment>& fresh) override {
    begin();
    const std::string event = events_.delta(fresh);
    if (!event.empty()) exchange_->send(event);
  }
  void done(TranscribedFile file) override {
    begin();
    exchange_->send(events_.done(file.transcript, facts_of(file.outcome)));
    exchange_->end_stream();
  }
  void on_revoked() override { revoked_ = true; }
  void failed(const Error& error) override {
    const auto api = failure_of(error, revoked_);
    if (!begun_) return exchange_->answer(answer_of(api));
    exchange_->send("data: " + error_json(api) + "\n\n");
    exchange_->end_stream();
  }

 private:
  void begin() {
    if (!std::exchange(begun_, true)) exchange_->begin_stream(events_head(form_));
  }

  const SpeechForm form_;
  const std::shared_ptr<HttpExchange> exchange_;
  SpeechEvents events_{form_};
  bool begun_ = false;
  std::atomic<bool> revoked_{false};
};

class SpeechBody final : public HttpBody {
 public:
  SpeechBody(const SpeechEndpoint& endpoint, std::string client, bool translate, std::string_view boundary)
      : endpoint_(endpoint),
        client_(std::move(client)),
        translate_(translate),
        form_(endpoint.limits),
        reader_(boundary, form_) {}

  void begin(const std::shared_ptr<HttpExchange>& exchange) override { exchange_ = exchange; }
  bool answers_already() const override { return live_ != nullptr; }
  bool is_over() const override { return !live_ || live_->is_over(); }

  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    auto fed = reader_.feed(bytes);
    if (!fed) return tl::unexpected<HttpAnswer>(answer_of(api_error_of(fed.error(), "file")));
    const auto& upload = form_.so_far().upload;
    if (!upload) return {};
    if (!file_begun_) file_begun_ = Clock::real().now();
    if (!live_ && may_be_live_ && rate_.is_live(*upload, Clock::real().now() - *file_begun_)) start_live(*upload);
    if (live_) live_->grew(upload->size);
    return {};
  }

  void complete(std::shared_ptr<HttpExchange> exchange) override {
    if (live_) return complete_live();
    if (auto problem = start(exchange)) exchange->answer(answer_of(*problem));
  }

 private:
  /// Transcribes the recording while it comes, where the fields before it are of a stream whose events live text has.
  /// Where not, it is transcribed once it is complete, which also answers what is wrong with the fields.
  void start_live(const Upload& upload) {
    may_be_live_ = false;
    fields_before_ = form_.so_far().fields.size();
    auto fields = read_speech_form(form_.so_far().fields, endpoint_.usual, translate_);
    if (!fields || !endpoint_.models.contains(fields->model) || !fields->stream || fields->logprobs) return;
    if (fields->format != SpeechFormat::json && fields->format != SpeechFormat::text) return;
    if (fields->options.diarize || fields->options.replacements) return;
    auto admission = endpoint_.sessions.admit(client_);
    OwnedFd file(::fcntl(upload.file.get(), F_DUPFD_CLOEXEC, 0));
    if (!admission || !file) return;
    HttpAnswer head = events_head(*fields);
    auto live = LiveUpload::start(endpoint_.service, std::move(*fields), std::move(file), exchange_, std::move(head),
                                  std::move(admission));
    if (!live) return;
    live_ = std::move(*live);
    exchange_->on_gone([this] { live_->abandon(); });
  }

  void complete_live() {
    std::optional<ApiError> problem;
    const Form& form = form_.so_far();
    if (auto ended = reader_.finish(); !ended)
      problem = api_error_of(ended.error(), "");
    else if (form.fields.size() > fields_before_)
      problem =
          ApiError{.message = form.fields.back().first + ": expected before the file, which was transcribed as it came",
                   .param = form.fields.back().first};
    live_->complete(problem);
  }

  std::optional<ApiError> start(const std::shared_ptr<HttpExchange>& exchange) {
    if (auto ended = reader_.finish(); !ended) return api_error_of(ended.error(), "");
    Form form = form_.release();
    auto fields = read_speech_form(form.fields, endpoint_.usual, translate_);
    if (!fields) return std::move(fields.error());
    if (!endpoint_.models.contains(fields->model)) return endpoint_.models.missing(fields->model);
    if (!form.upload) return ApiError{.message = "file: it is required, as a file part of the form", .param = "file"};
    if (form.upload->size == 0) return ApiError{.message = "file: " + form.upload->name + " is empty", .param = "file"};
    SpeechRequest request{.audio = std::move(form.upload->file),
                          .name = form.upload->name,
                          .options = fields->options,
                          .client = client_};
    if (fields->stream)
      request.listener = std::make_shared<StreamedAnswer>(std::move(*fields), exchange);
    else
      request.listener = std::make_shared<WholeAnswer>(std::move(*fields), exchange);
    const auto ticket = endpoint_.service.submit(std::move(request));
    exchange->on_gone([ticket] { ticket->cancel(); });
    return std::nullopt;
  }

  const SpeechEndpoint& endpoint_;
  const std::string client_;
  const bool translate_;
  FormReader form_;
  MultipartReader reader_;
  std::shared_ptr<HttpExchange> exchange_{};
  std::optional<Clock::Instant> file_begun_{};
  UploadRate rate_{};
  bool may_be_live_ = true;
  std::size_t fields_before_ = 0;       // the file
  std::unique_ptr<LiveUpload> live_{};  // none: it is transcribed once it is complete
};

}  // namespace

tl::expected<std::unique_ptr<HttpBody>, HttpAnswer> speech_body(const SpeechEndpoint& endpoint, const HttpHead& head,
                                                                std::string client, bool translate) {
  const auto boundary = boundary_of(head.header("content-type"));
  if (!boundary) return tl::unexpected<HttpAnswer>(answer_of(api_error_of(boundary.error(), "")));
  return std::make_unique<SpeechBody>(endpoint, std::move(client), translate, *boundary);
}

}  // namespace tutti
