#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
}

#include <string>

#include "base/error.h"

namespace tutti {

/// FFmpeg's resampler, loaded on first use. Members carry the names of the C functions they point to.
struct ResamplerApi {
  decltype(&::swr_alloc_set_opts2) swr_alloc_set_opts2;
  decltype(&::swr_set_matrix) swr_set_matrix;
  decltype(&::swr_build_matrix2) swr_build_matrix2;
  decltype(&::swr_init) swr_init;
  decltype(&::swr_convert) swr_convert;
  decltype(&::swr_get_delay) swr_get_delay;
  decltype(&::swr_free) swr_free;
  decltype(&::av_channel_layout_default) av_channel_layout_default;
  decltype(&::av_channel_layout_copy) av_channel_layout_copy;
  decltype(&::av_channel_layout_compare) av_channel_layout_compare;
  decltype(&::av_channel_layout_uninit) av_channel_layout_uninit;
  decltype(&::av_strerror) av_strerror;

  /// The libraries of the version this build has the headers of; Fault::missing names the one that is not installed.
  static Result<const ResamplerApi*> load();

  std::string reason(int code) const;
};

/// FFmpeg's demuxers, decoders and encoders, loaded on first use.
struct FfmpegApi {
  decltype(&::avformat_alloc_context) avformat_alloc_context;
  decltype(&::avformat_open_input) avformat_open_input;
  decltype(&::avformat_find_stream_info) avformat_find_stream_info;
  decltype(&::avformat_close_input) avformat_close_input;
  decltype(&::avio_alloc_context) avio_alloc_context;
  decltype(&::avio_context_free) avio_context_free;
  decltype(&::av_read_frame) av_read_frame;
  decltype(&::avcodec_find_decoder) avcodec_find_decoder;
  decltype(&::avcodec_get_name) avcodec_get_name;
  decltype(&::avcodec_alloc_context3) avcodec_alloc_context3;
  decltype(&::avcodec_parameters_to_context) avcodec_parameters_to_context;
  decltype(&::avcodec_open2) avcodec_open2;
  decltype(&::avcodec_send_packet) avcodec_send_packet;
  decltype(&::avcodec_receive_frame) avcodec_receive_frame;
  decltype(&::avcodec_find_encoder) avcodec_find_encoder;
  decltype(&::avcodec_send_frame) avcodec_send_frame;
  decltype(&::avcodec_receive_packet) avcodec_receive_packet;
  decltype(&::av_frame_get_buffer) av_frame_get_buffer;
  decltype(&::avcodec_free_context) avcodec_free_context;
  decltype(&::av_packet_alloc) av_packet_alloc;
  decltype(&::av_packet_unref) av_packet_unref;
  decltype(&::av_packet_free) av_packet_free;
  decltype(&::av_frame_alloc) av_frame_alloc;
  decltype(&::av_frame_unref) av_frame_unref;
  decltype(&::av_frame_free) av_frame_free;
  decltype(&::av_malloc) av_malloc;
  decltype(&::av_freep) av_freep;
  decltype(&::av_dict_get) av_dict_get;
  decltype(&::av_dict_set) av_dict_set;
  decltype(&::av_dict_free) av_dict_free;
  decltype(&::av_rescale_q) av_rescale_q;
  decltype(&::av_log_set_callback) av_log_set_callback;
  decltype(&::av_strerror) av_strerror;

  static Result<const FfmpegApi*> load();

  std::string reason(int code) const;
};

}  // namespace tutti
