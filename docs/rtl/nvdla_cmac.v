// Two products of NVDLA's multiply-accumulate cell in its fp16 mode, as a dot product d = a·b in fp32.
//
// The cell (NV_NVDLA_CMAC_CORE_mac) takes decoded operands and gives a sum with the largest exponent.  This
// wrapper decodes as NV_NVDLA_CMAC_CORE_active does: sign and magnitude, the significand shifted by the two low
// bits of the exponent, the three high bits apart (radix 16); and turns {exponent, sum} into fp32, cut off.
// The other 62 products are masked; NaN and Inf are not looked at; c is no operand of the cell.
module nvdla_cmac (
  input  wire        clk,
  input  wire [31:0] a,
  input  wire [31:0] b,
  input  wire [31:0] c,
  output wire [31:0] d
);
  function [15:0] decoded(input [15:0] x);
    reg [14:0] significand;
    begin
      significand = x[14:10] == 0 ? {4'b0, x[9:0], 1'b0} : {4'b0, 1'b1, x[9:0]};
      decoded = {x[15], significand << x[11:10]};
    end
  endfunction

  wire [15:0] a0 = decoded(a[15:0]), a1 = decoded(a[31:16]), b0 = decoded(b[15:0]), b1 = decoded(b[31:16]);
  wire [3:0] a_nz = {{2{|a[30:16]}}, {2{|a[14:0]}}};
  wire [3:0] b_nz = {{2{|b[30:16]}}, {2{|b[14:0]}}};
  wire [175:0] sums;

  NV_NVDLA_CMAC_CORE_mac cell_i (
    .nvdla_core_clk(clk), .nvdla_wg_clk(clk), .nvdla_core_rstn(1'b1),
    .cfg_is_fp16(1'b1), .cfg_is_int16(1'b0), .cfg_is_int8(1'b0), .cfg_is_wg(1'b0), .cfg_reg_en(1'b1),
    .dat_actv_data({992'b0, a1, a0}), .dat_actv_nan(64'b0), .dat_actv_nz({124'b0, a_nz}),
    .dat_actv_pvld({104{1'b1}}), .dat_pre_exp({186'b0, a[30:28], a[14:12]}),
    .dat_pre_mask({62'b0, |a[30:16], |a[14:0]}), .dat_pre_pvld(1'b1), .dat_pre_stripe_end(1'b0),
    .dat_pre_stripe_st(1'b1),
    .wt_actv_data({992'b0, b1, b0}), .wt_actv_nan(64'b0), .wt_actv_nz({124'b0, b_nz}),
    .wt_actv_pvld({104{1'b1}}), .wt_sd_exp({186'b0, b[30:28], b[14:12]}),
    .wt_sd_mask({62'b0, |b[30:16], |b[14:0]}), .wt_sd_pvld(1'b1),
    .mac_out_data(sums), .mac_out_nan(), .mac_out_pvld()
  );

  wire [37:0] magnitude = sums[37] ? -sums[37:0] : sums[37:0];
  reg [5:0] top;
  integer i;
  always @* begin
    top = 0;
    for (i = 0; i < 38; i = i + 1) if (magnitude[i]) top = i;
  end
  wire [37:0] aligned = magnitude << (6'd37 - top);
  // The lowest bit of the sum weighs 2^(exponent - BIAS).
  parameter BIAS = 50;
  wire [7:0] exponent = 8'd127 + top + sums[43:38] - BIAS;
  assign d = magnitude == 0 ? 32'b0 : {sums[37], exponent, aligned[36:14]};
endmodule
