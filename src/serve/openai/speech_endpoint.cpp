#include "serve/openai/speech_endpoint.h"

#include <optional>
#include <utility>

#include "serve/http/multipart.h"
#include "serve/openai/api_error.h"
#include "serve/openai/speech_answer.h"
#include "serve/openai/speech_form.h"

namespace tutti {
namespace {

/// Answers with the whole transcript.
class WholeAnswer final : public SpeechListener {
 public:
  WholeAnswer(SpeechForm form, std::shared_ptr<HttpExchange> exchange)
      : form_(std::move(form)), exchange_(std::move(exchange)) {}

  void done(TranscribedFile file) override {
    auto answer = speech_answer(file.transcript, facts_of(file.outcome), form_);
    if (!answer) return failed(answer.error());
    name_ignored(*answer, form_.ignored);
    exchange_->answer(std::move(*answer));
  }
  void failed(const Error& error) override { exchange_->answer(answer_of(api_error_of(error, "file"))); }

 private:
  const SpeechForm form_;
  const std::shared_ptr<HttpExchange> exchange_;
};

/// Answers with events. What is wrong with a recording is found before the first of them.
class StreamedAnswer final : public SpeechListener {
 public:
  StreamedAnswer(SpeechForm form, std::shared_ptr<HttpExchange> exchange)
      : form_(std::move(form)), exchange_(std::move(exchange)) {}

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
  void failed(const Error& error) override {
    const auto api = api_error_of(error, "file");
    if (!begun_) return exchange_->answer(answer_of(api));
    exchange_->send("data: " + error_json(api) + "\n\n");
    exchange_->end_stream();
  }

 private:
  void begin() {
    if (std::exchange(begun_, true)) return;
    HttpAnswer head{.type = "text/event-stream; charset=utf-8", .headers = {{"Cache-Control", "no-cache"}}};
    name_ignored(head, form_.ignored);
    exchange_->begin_stream(std::move(head));
  }

  const SpeechForm form_;
  const std::shared_ptr<HttpExchange> exchange_;
  SpeechEvents events_{form_};
  bool begun_ = false;
};

class SpeechBody final : public HttpBody {
 public:
  SpeechBody(const SpeechEndpoint& endpoint, std::string client, bool translate, std::string_view boundary)
      : endpoint_(endpoint),
        client_(std::move(client)),
        translate_(translate),
        form_(endpoint.limits),
        reader_(boundary, form_) {}

  tl::expected<void, HttpAnswer> take(std::string_view bytes) override {
    auto fed = reader_.feed(bytes);
    if (!fed) return tl::unexpected<HttpAnswer>(answer_of(api_error_of(fed.error(), "file")));
    return {};
  }

  void complete(std::shared_ptr<HttpExchange> exchange) override {
    if (auto problem = start(exchange)) exchange->answer(answer_of(*problem));
  }

 private:
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
};

}  // namespace

tl::expected<std::unique_ptr<HttpBody>, HttpAnswer> speech_body(const SpeechEndpoint& endpoint, const HttpHead& head,
                                                                std::string client, bool translate) {
  const auto boundary = boundary_of(head.header("content-type"));
  if (!boundary) return tl::unexpected<HttpAnswer>(answer_of(api_error_of(boundary.error(), "")));
  return std::make_unique<SpeechBody>(endpoint, std::move(client), translate, *boundary);
}

}  // namespace tutti
