#include "audio/ffmpeg/api.h"

#include <dlfcn.h>

#include "base/library_call.h"
#include "base/try.h"

namespace tutti {
namespace {

/// Loads one library by the soname of the headers' version: struct layouts change with the major number only.
class Library {
 public:
  Library(const char* name, int major) : soname_(std::string(name) + ".so." + std::to_string(major)) {
    // Lazy and local: a hundred libraries hang on libavcodec, and their names must not meet ours.
    handle_ = ::dlopen(soname_.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle_) note(::dlerror());
  }

  template <class Function>
  void bind(Function*& slot, const char* name) {
    if (handle_ && !look_up(handle_, name, slot)) note(std::string(name) + " is missing");
  }

  Result<void> loaded() const {
    if (problem_.empty()) return {};
    return fail(Fault::missing, "FFmpeg's library " + soname_ + " could not be loaded: " + problem_,
                "Install FFmpeg's libraries (tools/setup.sh does), or convert the file to 16 kHz mono WAV");
  }

 private:
  void note(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  std::string soname_;
  void* handle_ = nullptr;  // never closed: codecs leave threads and tables behind
  std::string problem_;
};

Result<ResamplerApi> load_resampler() {
  ResamplerApi api{};
  Library util("libavutil", LIBAVUTIL_VERSION_MAJOR);
  util.bind(api.av_channel_layout_default, "av_channel_layout_default");
  util.bind(api.av_channel_layout_copy, "av_channel_layout_copy");
  util.bind(api.av_channel_layout_compare, "av_channel_layout_compare");
  util.bind(api.av_channel_layout_uninit, "av_channel_layout_uninit");
  util.bind(api.av_strerror, "av_strerror");
  Library resample("libswresample", LIBSWRESAMPLE_VERSION_MAJOR);
  resample.bind(api.swr_alloc_set_opts2, "swr_alloc_set_opts2");
  resample.bind(api.swr_set_matrix, "swr_set_matrix");
  resample.bind(api.swr_build_matrix2, "swr_build_matrix2");
  resample.bind(api.swr_init, "swr_init");
  resample.bind(api.swr_convert, "swr_convert");
  resample.bind(api.swr_get_delay, "swr_get_delay");
  resample.bind(api.swr_free, "swr_free");
  return util.loaded().and_then([&] { return resample.loaded(); }).map([&] { return api; });
}

void bind_util(Library& util, FfmpegApi& api) {
  util.bind(api.av_frame_alloc, "av_frame_alloc");
  util.bind(api.av_frame_unref, "av_frame_unref");
  util.bind(api.av_frame_free, "av_frame_free");
  util.bind(api.av_frame_get_buffer, "av_frame_get_buffer");
  util.bind(api.av_malloc, "av_malloc");
  util.bind(api.av_freep, "av_freep");
  util.bind(api.av_dict_get, "av_dict_get");
  util.bind(api.av_dict_set, "av_dict_set");
  util.bind(api.av_dict_free, "av_dict_free");
  util.bind(api.av_rescale_q, "av_rescale_q");
  util.bind(api.av_log_set_callback, "av_log_set_callback");
  util.bind(api.av_strerror, "av_strerror");
}

void bind_codec(Library& codec, FfmpegApi& api) {
  codec.bind(api.avcodec_find_decoder, "avcodec_find_decoder");
  codec.bind(api.avcodec_get_name, "avcodec_get_name");
  codec.bind(api.avcodec_alloc_context3, "avcodec_alloc_context3");
  codec.bind(api.avcodec_parameters_to_context, "avcodec_parameters_to_context");
  codec.bind(api.avcodec_open2, "avcodec_open2");
  codec.bind(api.avcodec_send_packet, "avcodec_send_packet");
  codec.bind(api.avcodec_receive_frame, "avcodec_receive_frame");
  codec.bind(api.avcodec_find_encoder, "avcodec_find_encoder");
  codec.bind(api.avcodec_send_frame, "avcodec_send_frame");
  codec.bind(api.avcodec_receive_packet, "avcodec_receive_packet");
  codec.bind(api.avcodec_free_context, "avcodec_free_context");
  codec.bind(api.av_packet_alloc, "av_packet_alloc");
  codec.bind(api.av_packet_unref, "av_packet_unref");
  codec.bind(api.av_packet_free, "av_packet_free");
}

void bind_format(Library& format, FfmpegApi& api) {
  format.bind(api.avformat_alloc_context, "avformat_alloc_context");
  format.bind(api.avformat_open_input, "avformat_open_input");
  format.bind(api.avformat_find_stream_info, "avformat_find_stream_info");
  format.bind(api.avformat_close_input, "avformat_close_input");
  format.bind(api.avio_alloc_context, "avio_alloc_context");
  format.bind(api.avio_context_free, "avio_context_free");
  format.bind(api.av_read_frame, "av_read_frame");
}

Result<FfmpegApi> load_ffmpeg() {
  FfmpegApi api{};
  Library util("libavutil", LIBAVUTIL_VERSION_MAJOR);
  bind_util(util, api);
  Library codec("libavcodec", LIBAVCODEC_VERSION_MAJOR);
  bind_codec(codec, api);
  Library format("libavformat", LIBAVFORMAT_VERSION_MAJOR);
  bind_format(format, api);
  for (const Library* library : {&util, &codec, &format}) TRY(library->loaded());
  return api;
}

template <class Api>
Result<const Api*> share(const Result<Api>& loaded) {
  if (!loaded) return tl::unexpected<Error>(loaded.error());
  return &*loaded;
}

template <class Api>
std::string reason_by(const Api& api, int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "unknown error";
  api.av_strerror(code, text, sizeof text);
  return text;
}

}  // namespace

Result<const ResamplerApi*> ResamplerApi::load() {
  static const Result<ResamplerApi> loaded = load_resampler();
  return share(loaded);
}

Result<const FfmpegApi*> FfmpegApi::load() {
  static const Result<FfmpegApi> loaded = load_ffmpeg();
  return share(loaded);
}

std::string ResamplerApi::reason(int code) const {
  return reason_by(*this, code);
}
std::string FfmpegApi::reason(int code) const {
  return reason_by(*this, code);
}

}  // namespace tutti
