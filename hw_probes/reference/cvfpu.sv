// ExSdotp of CVFPU without pipeline registers, rounded to nearest: a·b + c·d + e.
module cvfpu (
    input  logic [2:0]  formats,  // of the operands and the result, as cvfpu.cc numbers them
    input  logic [15:0] a, b, c, d,
    input  logic [31:0] e,
    output logic [31:0] r
);
    import fpnew_pkg::*;
    fp_format_e source, result;
    always_comb begin
        case (formats)
            0: {source, result} = {FP16, FP32};
            1: {source, result} = {FP16ALT, FP32};
            2: {source, result} = {FP8, FP16};
            3: {source, result} = {FP8ALT, FP16};
            4: {source, result} = {FP8, FP16ALT};
            default: {source, result} = {FP8ALT, FP16ALT};
        endcase
    end
    fpnew_sdotp_multi #(.SrcDotpFpFmtConfig(6'b001111), .DstDotpFpFmtConfig(6'b101010), .NumPipeRegs(0)) unit (
        .clk_i(1'b0), .rst_ni(1'b1), .flush_i(1'b0), .sdotp_hart_id_i('0),
        .operand_a_i({16'hffff, a}), .operand_b_i(b), .operand_c_i({16'hffff, c}), .operand_d_i(d), .dst_operands_i(e),
        .is_boxed_i('1), .rnd_mode_i(RNE), .op_i(SDOTP), .op_mod_i(1'b0), .src_fmt_i(source), .dst_fmt_i(result),
        .tag_i(1'b0), .mask_i(1'b1), .aux_i(1'b0), .in_valid_i(1'b1), .out_ready_i(1'b1), .result_o(r),
        .in_ready_o(), .status_o(), .extension_bit_o(), .tag_o(), .mask_o(), .aux_o(), .out_valid_o(), .busy_o()
    );
endmodule
