(** volta/mma.m8n8k4.f32.f16.f16.f32: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Unit.
Import ListNotations.
Open Scope Z_scope.
Definition unit_circuit : circuit := [
  Node 2 16 Input;
  Node 3 16 Input;
  Node 4 16 Input;
  Node 5 16 Input;
  Node 6 16 Input;
  Node 7 16 Input;
  Node 8 16 Input;
  Node 9 16 Input;
  Node 10 32 Input;
  Node 11 8 (Extract 23 10);
  Node 12 1 (Extract 31 10);
  Node 13 8 (Const 0);
  Node 14 1 (Eq 11 13);
  Node 15 1 (Not 14);
  Node 16 23 (Extract 0 10);
  Node 17 24 (Concat 15 16);
  Node 18 23 (Const 0);
  Node 19 1 (Eq 16 18);
  Node 22 1 (And 14 19);
  Node 23 8 (Const 255);
  Node 24 1 (Eq 11 23);
  Node 25 1 (Const 0);
  Node 26 1 (And 19 24);
  Node 27 1 (Not 19);
  Node 28 1 (And 24 27);
  Node 29 8 (Zext 14);
  Node 30 8 (Or 11 29);
  Node 31 32 (Const 2147483647);
  Node 32 5 (Extract 10 2);
  Node 33 1 (Extract 15 2);
  Node 34 5 (Const 0);
  Node 35 1 (Eq 32 34);
  Node 36 1 (Not 35);
  Node 37 10 (Extract 0 2);
  Node 38 11 (Concat 36 37);
  Node 39 10 (Const 0);
  Node 40 1 (Eq 37 39);
  Node 43 1 (And 35 40);
  Node 44 5 (Const 31);
  Node 45 1 (Eq 32 44);
  Node 46 1 (And 40 45);
  Node 47 1 (Not 40);
  Node 48 1 (And 45 47);
  Node 49 5 (Zext 35);
  Node 50 5 (Or 32 49);
  Node 51 5 (Extract 10 3);
  Node 52 1 (Extract 15 3);
  Node 53 1 (Eq 34 51);
  Node 54 1 (Not 53);
  Node 55 10 (Extract 0 3);
  Node 56 11 (Concat 54 55);
  Node 57 1 (Eq 39 55);
  Node 59 1 (And 53 57);
  Node 60 1 (Eq 44 51);
  Node 61 1 (And 57 60);
  Node 62 1 (Not 57);
  Node 63 1 (And 60 62);
  Node 64 5 (Zext 53);
  Node 65 5 (Or 51 64);
  Node 66 1 (Xor 33 52);
  Node 67 22 (Mul 38 56);
  Node 68 6 (Zext 50);
  Node 69 6 (Zext 65);
  Node 70 6 (Add 68 69);
  Node 71 1 (Or 43 59);
  Node 72 1 (And 46 59);
  Node 73 1 (And 43 61);
  Node 74 1 (Or 72 73);
  Node 75 1 (Or 48 63);
  Node 76 1 (Or 74 75);
  Node 77 1 (Or 46 61);
  Node 78 1 (Not 76);
  Node 79 1 (And 77 78);
  Node 80 5 (Extract 10 4);
  Node 81 1 (Extract 15 4);
  Node 82 1 (Eq 34 80);
  Node 83 1 (Not 82);
  Node 84 10 (Extract 0 4);
  Node 85 11 (Concat 83 84);
  Node 86 1 (Eq 39 84);
  Node 88 1 (And 82 86);
  Node 89 1 (Eq 44 80);
  Node 90 1 (And 86 89);
  Node 91 1 (Not 86);
  Node 92 1 (And 89 91);
  Node 93 5 (Zext 82);
  Node 94 5 (Or 80 93);
  Node 95 5 (Extract 10 5);
  Node 96 1 (Extract 15 5);
  Node 97 1 (Eq 34 95);
  Node 98 1 (Not 97);
  Node 99 10 (Extract 0 5);
  Node 100 11 (Concat 98 99);
  Node 101 1 (Eq 39 99);
  Node 103 1 (And 97 101);
  Node 104 1 (Eq 44 95);
  Node 105 1 (And 101 104);
  Node 106 1 (Not 101);
  Node 107 1 (And 104 106);
  Node 108 5 (Zext 97);
  Node 109 5 (Or 95 108);
  Node 110 1 (Xor 81 96);
  Node 111 22 (Mul 85 100);
  Node 112 6 (Zext 94);
  Node 113 6 (Zext 109);
  Node 114 6 (Add 112 113);
  Node 115 1 (Or 88 103);
  Node 116 1 (And 90 103);
  Node 117 1 (And 88 105);
  Node 118 1 (Or 116 117);
  Node 119 1 (Or 92 107);
  Node 120 1 (Or 118 119);
  Node 121 1 (Or 90 105);
  Node 122 1 (Not 120);
  Node 123 1 (And 121 122);
  Node 124 5 (Extract 10 6);
  Node 125 1 (Extract 15 6);
  Node 126 1 (Eq 34 124);
  Node 127 1 (Not 126);
  Node 128 10 (Extract 0 6);
  Node 129 11 (Concat 127 128);
  Node 130 1 (Eq 39 128);
  Node 132 1 (And 126 130);
  Node 133 1 (Eq 44 124);
  Node 134 1 (And 130 133);
  Node 135 1 (Not 130);
  Node 136 1 (And 133 135);
  Node 137 5 (Zext 126);
  Node 138 5 (Or 124 137);
  Node 139 5 (Extract 10 7);
  Node 140 1 (Extract 15 7);
  Node 141 1 (Eq 34 139);
  Node 142 1 (Not 141);
  Node 143 10 (Extract 0 7);
  Node 144 11 (Concat 142 143);
  Node 145 1 (Eq 39 143);
  Node 147 1 (And 141 145);
  Node 148 1 (Eq 44 139);
  Node 149 1 (And 145 148);
  Node 150 1 (Not 145);
  Node 151 1 (And 148 150);
  Node 152 5 (Zext 141);
  Node 153 5 (Or 139 152);
  Node 154 1 (Xor 125 140);
  Node 155 22 (Mul 129 144);
  Node 156 6 (Zext 138);
  Node 157 6 (Zext 153);
  Node 158 6 (Add 156 157);
  Node 159 1 (Or 132 147);
  Node 160 1 (And 134 147);
  Node 161 1 (And 132 149);
  Node 162 1 (Or 160 161);
  Node 163 1 (Or 136 151);
  Node 164 1 (Or 162 163);
  Node 165 1 (Or 134 149);
  Node 166 1 (Not 164);
  Node 167 1 (And 165 166);
  Node 168 5 (Extract 10 8);
  Node 169 1 (Extract 15 8);
  Node 170 1 (Eq 34 168);
  Node 171 1 (Not 170);
  Node 172 10 (Extract 0 8);
  Node 173 11 (Concat 171 172);
  Node 174 1 (Eq 39 172);
  Node 176 1 (And 170 174);
  Node 177 1 (Eq 44 168);
  Node 178 1 (And 174 177);
  Node 179 1 (Not 174);
  Node 180 1 (And 177 179);
  Node 181 5 (Zext 170);
  Node 182 5 (Or 168 181);
  Node 183 5 (Extract 10 9);
  Node 184 1 (Extract 15 9);
  Node 185 1 (Eq 34 183);
  Node 186 1 (Not 185);
  Node 187 10 (Extract 0 9);
  Node 188 11 (Concat 186 187);
  Node 189 1 (Eq 39 187);
  Node 191 1 (And 185 189);
  Node 192 1 (Eq 44 183);
  Node 193 1 (And 189 192);
  Node 194 1 (Not 189);
  Node 195 1 (And 192 194);
  Node 196 5 (Zext 185);
  Node 197 5 (Or 183 196);
  Node 198 1 (Xor 169 184);
  Node 199 22 (Mul 173 188);
  Node 200 6 (Zext 182);
  Node 201 6 (Zext 197);
  Node 202 6 (Add 200 201);
  Node 203 1 (Or 176 191);
  Node 204 1 (And 178 191);
  Node 205 1 (And 176 193);
  Node 206 1 (Or 204 205);
  Node 207 1 (Or 180 195);
  Node 208 1 (Or 206 207);
  Node 209 1 (Or 178 193);
  Node 210 1 (Not 208);
  Node 211 1 (And 209 210);
  Node 212 8 (Zext 70);
  Node 213 8 (Const 101);
  Node 214 8 (Add 212 213);
  Node 215 8 (Ite 71 13 214);
  Node 216 8 (Zext 114);
  Node 217 8 (Add 213 216);
  Node 218 8 (Ite 115 13 217);
  Node 219 8 (Zext 158);
  Node 220 8 (Add 213 219);
  Node 221 8 (Ite 159 13 220);
  Node 222 8 (Zext 202);
  Node 223 8 (Add 213 222);
  Node 224 8 (Ite 203 13 223);
  Node 225 9 (Zext 30);
  Node 226 9 (Const 4);
  Node 227 9 (Add 225 226);
  Node 228 9 (Const 0);
  Node 229 9 (Ite 22 228 227);
  Node 230 9 (Zext 215);
  Node 231 9 (Zext 218);
  Node 232 9 (Zext 221);
  Node 233 9 (Zext 224);
  Node 234 1 (Ult 230 231);
  Node 235 9 (Ite 234 231 230);
  Node 236 1 (Ult 232 233);
  Node 237 9 (Ite 236 233 232);
  Node 238 1 (Ult 235 237);
  Node 239 9 (Ite 238 237 235);
  Node 240 1 (Ult 239 229);
  Node 241 9 (Ite 240 229 239);
  Node 242 9 (Sub 241 230);
  Node 243 3 (Const 0);
  Node 244 25 (Concat 67 243);
  Node 245 25 (Lshr 244 242);
  Node 246 9 (Sub 241 231);
  Node 247 25 (Concat 111 243);
  Node 248 25 (Lshr 247 246);
  Node 249 9 (Sub 241 232);
  Node 250 25 (Concat 155 243);
  Node 251 25 (Lshr 250 249);
  Node 252 9 (Sub 241 233);
  Node 253 25 (Concat 199 243);
  Node 254 25 (Lshr 253 252);
  Node 255 9 (Sub 241 229);
  Node 256 24 (Lshr 17 255);
  Node 257 26 (Zext 245);
  Node 258 26 (Neg 257);
  Node 259 26 (Ite 66 258 257);
  Node 260 26 (Zext 248);
  Node 261 26 (Neg 260);
  Node 262 26 (Ite 110 261 260);
  Node 263 26 (Zext 251);
  Node 264 26 (Neg 263);
  Node 265 26 (Ite 154 264 263);
  Node 266 26 (Zext 254);
  Node 267 26 (Neg 266);
  Node 268 26 (Ite 198 267 266);
  Node 269 25 (Zext 256);
  Node 270 25 (Neg 269);
  Node 271 25 (Ite 12 270 269);
  Node 272 29 (Sext 259);
  Node 273 29 (Sext 262);
  Node 274 29 (Sext 265);
  Node 275 29 (Sext 268);
  Node 276 29 (Sext 271);
  Node 277 29 (Add 272 273);
  Node 278 29 (Add 274 275);
  Node 279 29 (Add 277 278);
  Node 280 29 (Add 276 279);
  Node 281 33 (Sext 280);
  Node 296 1 (Extract 32 281);
  Node 297 33 (Neg 281);
  Node 298 33 (Ite 296 297 281);
  Node 299 32 (Extract 0 298);
  Node 300 9 (Const 3);
  Node 301 9 (Add 241 300);
  Node 302 4 (Extract 5 301);
  Node 303 4 (Const 0);
  Node 304 1 (Eq 302 303);
  Node 305 1 (Not 304);
  Node 306 5 (Extract 0 301);
  Node 307 5 (Ite 305 44 306);
  Node 308 16 (Extract 16 298);
  Node 309 16 (Const 0);
  Node 310 1 (Eq 308 309);
  Node 311 1 (Extract 4 307);
  Node 312 1 (Not 310);
  Node 313 1 (And 311 312);
  Node 314 1 (And 310 311);
  Node 315 16 (Extract 0 298);
  Node 316 32 (Concat 315 309);
  Node 317 32 (Ite 314 316 299);
  Node 318 8 (Extract 24 317);
  Node 319 1 (Eq 13 318);
  Node 320 1 (Extract 3 307);
  Node 321 1 (Or 313 320);
  Node 322 1 (Not 319);
  Node 323 1 (And 320 322);
  Node 324 1 (Or 313 323);
  Node 325 1 (And 319 321);
  Node 326 24 (Extract 0 317);
  Node 327 32 (Concat 326 13);
  Node 328 32 (Ite 325 327 317);
  Node 329 4 (Extract 28 328);
  Node 330 1 (Eq 303 329);
  Node 331 1 (Extract 2 307);
  Node 332 1 (Or 324 331);
  Node 333 1 (Not 330);
  Node 334 1 (And 331 333);
  Node 335 1 (Or 324 334);
  Node 336 1 (And 330 332);
  Node 337 28 (Extract 0 328);
  Node 338 32 (Concat 337 303);
  Node 339 32 (Ite 336 338 328);
  Node 340 2 (Extract 30 339);
  Node 341 2 (Const 0);
  Node 342 1 (Eq 340 341);
  Node 343 1 (Extract 1 307);
  Node 344 1 (Or 335 343);
  Node 345 1 (Not 342);
  Node 346 1 (And 343 345);
  Node 347 1 (Or 335 346);
  Node 348 1 (And 342 344);
  Node 349 30 (Extract 0 339);
  Node 350 32 (Concat 349 341);
  Node 351 32 (Ite 348 350 339);
  Node 352 1 (Extract 31 351);
  Node 353 1 (Eq 25 352);
  Node 354 1 (Extract 0 307);
  Node 355 1 (Or 347 354);
  Node 359 1 (And 353 355);
  Node 360 31 (Extract 0 351);
  Node 361 32 (Concat 360 25);
  Node 362 32 (Ite 359 361 351);
  Node 363 2 (Concat 314 325);
  Node 364 3 (Concat 363 336);
  Node 365 4 (Concat 364 348);
  Node 366 5 (Concat 365 359);
  Node 367 9 (Zext 366);
  Node 368 9 (Sub 301 367);
  Node 369 24 (Extract 8 362);
  Node 379 24 (Const 0);
  Node 380 1 (Eq 369 379);
  Node 381 10 (Zext 368);
  Node 382 1 (Not 380);
  Node 383 10 (Const 253);
  Node 384 1 (Ult 383 381);
  Node 385 1 (And 382 384);
  Node 386 10 (Ite 380 39 381);
  Node 387 8 (Extract 0 386);
  Node 388 1 (Not 66);
  Node 389 1 (And 79 388);
  Node 390 1 (Not 110);
  Node 391 1 (And 123 390);
  Node 392 1 (Not 154);
  Node 393 1 (And 167 392);
  Node 394 1 (Not 198);
  Node 395 1 (And 211 394);
  Node 396 1 (Not 12);
  Node 397 1 (And 26 396);
  Node 398 1 (Or 389 391);
  Node 399 1 (Or 393 398);
  Node 400 1 (Or 395 399);
  Node 401 1 (Or 397 400);
  Node 402 1 (And 66 79);
  Node 403 1 (And 110 123);
  Node 404 1 (And 154 167);
  Node 405 1 (And 198 211);
  Node 406 1 (And 12 26);
  Node 407 1 (Or 402 403);
  Node 408 1 (Or 404 407);
  Node 409 1 (Or 405 408);
  Node 410 1 (Or 406 409);
  Node 411 1 (Or 76 120);
  Node 412 1 (Or 164 411);
  Node 413 1 (Or 208 412);
  Node 414 1 (Or 28 413);
  Node 415 1 (And 401 410);
  Node 416 1 (Or 414 415);
  Node 417 1 (Or 401 410);
  Node 418 1 (Or 385 417);
  Node 419 1 (Not 416);
  Node 420 1 (And 418 419);
  Node 421 1 (And 296 382);
  Node 422 1 (Ite 417 410 421);
  Node 426 1 (Extract 31 362);
  Node 427 8 (Zext 426);
  Node 428 8 (Add 387 427);
  Node 429 23 (Extract 8 362);
  Node 430 31 (Concat 428 429);
  Node 431 32 (Concat 422 430);
  Node 432 31 (Const 2139095040);
  Node 433 32 (Concat 422 432);
  Node 434 32 (Ite 420 433 431);
  Node 435 32 (Ite 416 31 434)].
Definition unit_design : design := {| a_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; b_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; c_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; d_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; scales := None; converted := None; factors := {| of_a := Kept; of_b := Kept; normalise_factors := false; exponent_step := 1; zero_terms := None; odd_negated := false; product_limit := None; product_rounding := None |}; cutting_of := Whole; block := 4%nat; odd_first := false; skips := false; c_rule := Kept; sums := OneSum (Stage {| fraction_bits := (Some 23); alignment := RZ; zero_exponent := ZeroAt (-131); carry_bits := None; normalise := false; out := {| rho := RZ; p := 23; emin := (-126); emax := 127; saturates := false; flushes := false; tiny := false; zsign := Positive |} |}); nan_word := 0x7fffffff; nans := OneWord; composed := None |}.
Definition plan : unit_plan := UnitPlan [2; 4; 6; 8]%positive [3; 5; 7; 9]%positive 10 []%positive
 [LeafPlan None [(Some 38%positive); (Some 56%positive)] (Number 66 67 70 (-30) 20 76 79);
  LeafPlan None [(Some 85%positive); (Some 100%positive)] (Number 110 111 114 (-30) 20 120 123);
  LeafPlan None [(Some 129%positive); (Some 144%positive)] (Number 154 155 158 (-30) 20 164 167);
  LeafPlan None [(Some 173%positive); (Some 188%positive)] (Number 198 199 202 (-30) 20 208 211)]
 (Number 12 17 30 (-127) 23 28 26) (Some 17%positive) (Number 12 17 30 (-127) 23 28 26)
 [BlockPlan (Number 12 17 30 (-127) 23 28 26) (Sum (One 23 (Fused [Addend (Number 66 67 70 (-30) 20 76 79) 71 242 245 33554425 62; Addend (Number 110 111 114 (-30) 20 120 123) 115 246 248 33554425 62; Addend (Number 154 155 158 (-30) 20 164 167) 159 249 251 33554425 62; Addend (Number 198 199 202 (-30) 20 208 211) 203 252 254 33554425 62; Addend (Number 12 17 30 (-127) 23 28 26) 22 255 256 16777215 255] 241 (-131) 259 (Partial 280 (Partial 279 (Partial 277 (Leaf 272 0%nat) (Leaf 273 1%nat)) (Partial 278 (Leaf 274 2%nat) (Leaf 275 3%nat))) (Leaf 276 4%nat)) 281 (Ending 369 25 368 (Number 422 369 387 (-126) 23 416 420)))) None [(At (Number 66 67 70 (-30) 20 76 79)); (At (Number 110 111 114 (-30) 20 120 123)); (At (Number 154 155 158 (-30) 20 164 167)); (At (Number 198 199 202 (-30) 20 208 211)); (At (Number 12 17 30 (-127) 23 28 26))])]
 None 435.
Definition e0 := (Bits 10 5 (U 2)).
Definition e1 := (Equal e0 (Num_ 31)).
Definition e2 := (Bits 0 10 (U 2)).
Definition e3 := (Equal e2 (Num_ 0)).
Definition e4 := (Both e1 (Negation e3)).
Definition e5 := (Equal e0 (Num_ 0)).
Definition e6 := (If e5 e2 (Plus e2 (Num_ 1024))).
Definition e7 := (Bits 10 5 (U 3)).
Definition e8 := (Equal e7 (Num_ 31)).
Definition e9 := (Bits 0 10 (U 3)).
Definition e10 := (Equal e9 (Num_ 0)).
Definition e11 := (Both e8 (Negation e10)).
Definition e12 := (Both e8 e10).
Definition e13 := (Equal e7 (Num_ 0)).
Definition e14 := (If e13 e9 (Plus e9 (Num_ 1024))).
Definition e15 := (Either (Either e4 e11) (Either (Both (Both e1 e3) (Both (Negation (Either e11 e12)) (Equal e14 (Num_ 0)))) (Both (Both (Negation (Either e4 (Both e1 e3))) (Equal e6 (Num_ 0))) e12))).
Definition e16 := (Negation (Is 76)).
Definition e17 := (Negation e15).
Definition e18 := (Either (Both e1 e3) e12).
Definition e19 := (Negation (Is 79)).
Definition e20 := (Negation e18).
Definition e21 := (Equal (Bits 15 1 (U 2)) (Num_ 1)).
Definition e22 := (Equal (Bits 15 1 (U 3)) (Num_ 1)).
Definition e23 := (Negation (Either (Both e21 e22) (Both (Negation e21) (Negation e22)))).
Definition e24 := (Negation (Is 66)).
Definition e25 := (Plus (U 70) (Num_ (-30))).
Definition e26 := (Bits 10 5 (U 4)).
Definition e27 := (Equal e26 (Num_ 31)).
Definition e28 := (Bits 0 10 (U 4)).
Definition e29 := (Equal e28 (Num_ 0)).
Definition e30 := (Both e27 (Negation e29)).
Definition e31 := (Both e27 e29).
Definition e32 := (Equal e26 (Num_ 0)).
Definition e33 := (If e32 e28 (Plus e28 (Num_ 1024))).
Definition e34 := (Bits 10 5 (U 5)).
Definition e35 := (Equal e34 (Num_ 31)).
Definition e36 := (Bits 0 10 (U 5)).
Definition e37 := (Equal e36 (Num_ 0)).
Definition e38 := (Both e35 (Negation e37)).
Definition e39 := (Both e35 e37).
Definition e40 := (Equal e34 (Num_ 0)).
Definition e41 := (If e40 e36 (Plus e36 (Num_ 1024))).
Definition e42 := (Either (Either e30 e38) (Either (Both e31 (Both (Negation (Either e38 e39)) (Equal e41 (Num_ 0)))) (Both (Both (Negation (Either e30 e31)) (Equal e33 (Num_ 0))) e39))).
Definition e43 := (Negation (Is 120)).
Definition e44 := (Negation e42).
Definition e45 := (Either e31 e39).
Definition e46 := (Negation (Is 123)).
Definition e47 := (Negation e45).
Definition e48 := (Equal (Bits 15 1 (U 4)) (Num_ 1)).
Definition e49 := (Equal (Bits 15 1 (U 5)) (Num_ 1)).
Definition e50 := (Negation (Either (Both e48 e49) (Both (Negation e48) (Negation e49)))).
Definition e51 := (Negation (Is 110)).
Definition e52 := (Plus (U 114) (Num_ (-30))).
Definition e53 := (Bits 10 5 (U 6)).
Definition e54 := (Equal e53 (Num_ 31)).
Definition e55 := (Bits 0 10 (U 6)).
Definition e56 := (Equal e55 (Num_ 0)).
Definition e57 := (Both e54 (Negation e56)).
Definition e58 := (Both e54 e56).
Definition e59 := (Equal e53 (Num_ 0)).
Definition e60 := (If e59 e55 (Plus e55 (Num_ 1024))).
Definition e61 := (Bits 10 5 (U 7)).
Definition e62 := (Equal e61 (Num_ 31)).
Definition e63 := (Bits 0 10 (U 7)).
Definition e64 := (Equal e63 (Num_ 0)).
Definition e65 := (Both e62 (Negation e64)).
Definition e66 := (Both e62 e64).
Definition e67 := (Equal e61 (Num_ 0)).
Definition e68 := (If e67 e63 (Plus e63 (Num_ 1024))).
Definition e69 := (Either (Either e57 e65) (Either (Both e58 (Both (Negation (Either e65 e66)) (Equal e68 (Num_ 0)))) (Both (Both (Negation (Either e57 e58)) (Equal e60 (Num_ 0))) e66))).
Definition e70 := (Negation (Is 164)).
Definition e71 := (Negation e69).
Definition e72 := (Either e58 e66).
Definition e73 := (Negation (Is 167)).
Definition e74 := (Negation e72).
Definition e75 := (Equal (Bits 15 1 (U 6)) (Num_ 1)).
Definition e76 := (Equal (Bits 15 1 (U 7)) (Num_ 1)).
Definition e77 := (Negation (Either (Both e75 e76) (Both (Negation e75) (Negation e76)))).
Definition e78 := (Negation (Is 154)).
Definition e79 := (Plus (U 158) (Num_ (-30))).
Definition e80 := (Bits 10 5 (U 8)).
Definition e81 := (Equal e80 (Num_ 31)).
Definition e82 := (Bits 0 10 (U 8)).
Definition e83 := (Equal e82 (Num_ 0)).
Definition e84 := (Both e81 (Negation e83)).
Definition e85 := (Both e81 e83).
Definition e86 := (Equal e80 (Num_ 0)).
Definition e87 := (If e86 e82 (Plus e82 (Num_ 1024))).
Definition e88 := (Bits 10 5 (U 9)).
Definition e89 := (Equal e88 (Num_ 31)).
Definition e90 := (Bits 0 10 (U 9)).
Definition e91 := (Equal e90 (Num_ 0)).
Definition e92 := (Both e89 (Negation e91)).
Definition e93 := (Both e89 e91).
Definition e94 := (Equal e88 (Num_ 0)).
Definition e95 := (If e94 e90 (Plus e90 (Num_ 1024))).
Definition e96 := (Either (Either e84 e92) (Either (Both e85 (Both (Negation (Either e92 e93)) (Equal e95 (Num_ 0)))) (Both (Both (Negation (Either e84 e85)) (Equal e87 (Num_ 0))) e93))).
Definition e97 := (Negation (Is 208)).
Definition e98 := (Negation e96).
Definition e99 := (Either e85 e93).
Definition e100 := (Negation (Is 211)).
Definition e101 := (Negation e99).
Definition e102 := (Equal (Bits 15 1 (U 8)) (Num_ 1)).
Definition e103 := (Equal (Bits 15 1 (U 9)) (Num_ 1)).
Definition e104 := (Negation (Either (Both e102 e103) (Both (Negation e102) (Negation e103)))).
Definition e105 := (Negation (Is 198)).
Definition e106 := (Plus (U 202) (Num_ (-30))).
Definition e107 := (Bits 23 8 (U 10)).
Definition e108 := (Equal e107 (Num_ 255)).
Definition e109 := (Bits 0 23 (U 10)).
Definition e110 := (Equal e109 (Num_ 0)).
Definition e111 := (Both e108 (Negation e110)).
Definition e112 := (Negation e111).
Definition e113 := (Both e108 e110).
Definition e114 := (Negation e113).
Definition e115 := (Equal e107 (Num_ 0)).
Definition e116 := (Num_ 8388608).
Definition e117 := (Negation (Is 28)).
Definition e118 := (Negation (Is 26)).
Definition e119 := (Equal (Bits 31 1 (U 10)) (Num_ 1)).
Definition e120 := (Negation (Is 12)).
Definition e121 := (Plus (U 30) (Num_ (-127))).
Definition e122 := (Num_ (-126)).
Definition e123 := (Both e16 e19).
Definition e124 := (AtMost (U 70) (Num_ 62)).
Definition e125 := (Equal (U 67) (Num_ 0)).
Definition e126 := (Negation (Is 71)).
Definition e127 := (Both e43 e46).
Definition e128 := (AtMost (U 114) (Num_ 62)).
Definition e129 := (Equal (U 111) (Num_ 0)).
Definition e130 := (Negation (Is 115)).
Definition e131 := (Both e70 e73).
Definition e132 := (AtMost (U 158) (Num_ 62)).
Definition e133 := (Equal (U 155) (Num_ 0)).
Definition e134 := (Negation (Is 159)).
Definition e135 := (Both e97 e100).
Definition e136 := (AtMost (U 202) (Num_ 62)).
Definition e137 := (Equal (U 199) (Num_ 0)).
Definition e138 := (Negation (Is 203)).
Definition e139 := (Both e117 e118).
Definition e140 := (AtMost (U 30) (Num_ 255)).
Definition e141 := (Equal (U 17) (Num_ 0)).
Definition e142 := (Negation (Is 22)).
Definition e143 := (Equal (Num_ 0) (Num_ 0)).
Definition e144 := (Num_ (-131)).
Definition e145 := (If (Is 71) e144 e25).
Definition e146 := (Plus (U 241) e144).
Definition e147 := (Low (U 242) (Num_ 25)).
Definition e148 := (Times (U 67) (Num_ 8)).
Definition e149 := (Num_ 33554425).
Definition e150 := (If (Is 115) e144 e52).
Definition e151 := (Low (U 246) (Num_ 25)).
Definition e152 := (Times (U 111) (Num_ 8)).
Definition e153 := (If (Is 159) e144 e79).
Definition e154 := (Low (U 249) (Num_ 25)).
Definition e155 := (Times (U 155) (Num_ 8)).
Definition e156 := (If (Is 203) e144 e106).
Definition e157 := (Low (U 252) (Num_ 25)).
Definition e158 := (Times (U 199) (Num_ 8)).
Definition e159 := (If (Is 22) e144 e121).
Definition e160 := (Low (U 255) (Num_ 24)).
Definition e161 := (Times (U 17) (Num_ 1)).
Definition e162 := (Num_ 16777215).
Definition e163 := (Negation e143).
Definition e164 := (AtMost (U 241) (Num_ 259)).
Definition e165 := (Num_ (-150994915)).
Definition e166 := (Num_ 150994915).
Definition e167 := (Num_ (-67108850)).
Definition e168 := (Num_ 67108850).
Definition e169 := (Num_ (-33554425)).
Definition e170 := (Equal (Sg 281) (Num_ 0)).
Definition e171 := (Both (AtMost e165 (Sg 281)) (AtMost (Sg 281) e166)).
Definition e172 := (Negation (Is 25)).
Definition e173 := (Both (Equal (U 369) (Num_ 0)) e172).
Definition e174 := (Negation e170).
Definition e175 := (Either (AtMost e116 (U 369)) (Equal (U 368) (Num_ 0))).
Definition e176 := (Plus (U 368) (Num_ (-149))).
Definition e177 := (Plus (U 241) (Num_ (-154))).
Definition e178 := (Abs (Sg 281)).
Definition e179 := (Less e177 e176).
Definition e180 := (Low (Minus e176 e177) (Num_ 30)).
Definition e181 := (Either (Both (Is 79) e24) (Either (Both (Is 123) e51) (Either (Both (Is 167) e78) (Either (Both (Is 211) e105) (Either (Both (Is 26) e120) e163))))).
Definition e182 := (Either (Both (Is 79) (Is 66)) (Either (Both (Is 123) (Is 110)) (Either (Both (Is 167) (Is 154)) (Either (Both (Is 211) (Is 198)) (Either (Both (Is 26) (Is 12)) e163))))).
Definition e183 := (Either (Either (Is 76) (Either (Is 120) (Either (Is 164) (Either (Is 208) (Either (Is 28) e163))))) (Both e181 e182)).
Definition e184 := (Negation (Is 416)).
Definition e185 := (Negation e183).
Definition e186 := (Either e181 e182).
Definition e187 := (Negation (Is 422)).
Definition e188 := (Negation e186).
Definition e189 := (Either e174 e173).
Definition e190 := (Either e170 e175).
Definition e191 := (Plus (U 369) (If (Is 25) (Num_ 1) (Num_ 0))).
Definition e192 := (Either (Equal e191 (Num_ 0)) e163).
Definition e193 := (Negation e192).
Definition e194 := (AtMost (Num_ 16777216) e191).
Definition e195 := (Plus (U 368) (If e194 (Num_ 1) (Num_ 0))).
Definition e196 := (Both (AtMost e116 e191) (Less (Num_ 253) e195)).
Definition e197 := (Both e193 (Both e196 e143)).
Definition e198 := (Negation (Is 420)).
Definition e199 := (Negation e197).
Definition e200 := (Either (Both e192 e163) (Both e193 (Less (Sg 281) (Num_ 0)))).
Definition e201 := (Plus (U 387) e122).
Definition e202 := (If (Is 422) (Num_ 2147483648) (Num_ 0)).
Definition e203 := (Times (U 369) (Num_ 1)).
Definition certified : list claim := [
  Claim [(Negation e4); (Negation (Both e1 e3))] (Equal (U 38) e6);
  Claim [(Negation e11); (Negation e12)] (Equal (U 56) e14);
  Claim [] (Either (Both (Is 76) e15) (Both e16 e17));
  Claim [e17] (Either (Both (Is 79) e18) (Both e19 e20));
  Claim [e17] (Either (Both (Is 66) e23) (Both e24 (Negation e23)));
  Claim [e17; e20] (Equal e25 (Plus (If e5 (Num_ (-14)) (Minus e0 (Num_ 15))) (If e13 (Num_ (-14)) (Minus e7 (Num_ 15)))));
  Claim [] (Equal (U 67) (Times (U 38) (U 56)));
  Claim [(Negation e30); (Negation e31)] (Equal (U 85) e33);
  Claim [(Negation e38); (Negation e39)] (Equal (U 100) e41);
  Claim [] (Either (Both (Is 120) e42) (Both e43 e44));
  Claim [e44] (Either (Both (Is 123) e45) (Both e46 e47));
  Claim [e44] (Either (Both (Is 110) e50) (Both e51 (Negation e50)));
  Claim [e44; e47] (Equal e52 (Plus (If e32 (Num_ (-14)) (Minus e26 (Num_ 15))) (If e40 (Num_ (-14)) (Minus e34 (Num_ 15)))));
  Claim [] (Equal (U 111) (Times (U 85) (U 100)));
  Claim [(Negation e57); (Negation e58)] (Equal (U 129) e60);
  Claim [(Negation e65); (Negation e66)] (Equal (U 144) e68);
  Claim [] (Either (Both (Is 164) e69) (Both e70 e71));
  Claim [e71] (Either (Both (Is 167) e72) (Both e73 e74));
  Claim [e71] (Either (Both (Is 154) e77) (Both e78 (Negation e77)));
  Claim [e71; e74] (Equal e79 (Plus (If e59 (Num_ (-14)) (Minus e53 (Num_ 15))) (If e67 (Num_ (-14)) (Minus e61 (Num_ 15)))));
  Claim [] (Equal (U 155) (Times (U 129) (U 144)));
  Claim [(Negation e84); (Negation e85)] (Equal (U 173) e87);
  Claim [(Negation e92); (Negation e93)] (Equal (U 188) e95);
  Claim [] (Either (Both (Is 208) e96) (Both e97 e98));
  Claim [e98] (Either (Both (Is 211) e99) (Both e100 e101));
  Claim [e98] (Either (Both (Is 198) e104) (Both e105 (Negation e104)));
  Claim [e98; e101] (Equal e106 (Plus (If e86 (Num_ (-14)) (Minus e80 (Num_ 15))) (If e94 (Num_ (-14)) (Minus e88 (Num_ 15)))));
  Claim [] (Equal (U 199) (Times (U 173) (U 188)));
  Claim [e112; e114] (Equal (U 17) (If e115 e109 (Plus e109 e116)));
  Claim [] (Either (Both (Is 28) e111) (Both e117 e112));
  Claim [e112] (Either (Both (Is 26) e113) (Both e118 e114));
  Claim [e112] (Either (Both (Is 12) e119) (Both e120 (Negation e119)));
  Claim [e112; e114] (Equal e121 (If e115 e122 (Minus e107 (Num_ 127))));
  Claim [] (Equal (U 17) (U 17));
  Claim [e123] e124;
  Claim [e123] (Either (Both (Is 71) e125) (Both e126 (Negation e125)));
  Claim [e127] e128;
  Claim [e127] (Either (Both (Is 115) e129) (Both e130 (Negation e129)));
  Claim [e131] e132;
  Claim [e131] (Either (Both (Is 159) e133) (Both e134 (Negation e133)));
  Claim [e135] e136;
  Claim [e135] (Either (Both (Is 203) e137) (Both e138 (Negation e137)));
  Claim [e139] e140;
  Claim [e139] (Either (Both (Is 22) e141) (Both e142 (Negation e141)));
  Claim [e143; e124; e128; e132; e136; e140] (AtMost e145 e146);
  Claim [e126; e124; e128; e132; e136; e140] (Equal (U 242) (Minus e146 e25));
  Claim [] (Both (AtMost (Times (Shift (U 245) e147) (Num_ 1)) e148) (Less e148 (Times (Shift (Plus (U 245) (Num_ 1)) e147) (Num_ 1))));
  Claim [] (AtMost (U 245) e149);
  Claim [e143; e124; e128; e132; e136; e140] (AtMost e150 e146);
  Claim [e130; e124; e128; e132; e136; e140] (Equal (U 246) (Minus e146 e52));
  Claim [] (Both (AtMost (Times (Shift (U 248) e151) (Num_ 1)) e152) (Less e152 (Times (Shift (Plus (U 248) (Num_ 1)) e151) (Num_ 1))));
  Claim [] (AtMost (U 248) e149);
  Claim [e143; e124; e128; e132; e136; e140] (AtMost e153 e146);
  Claim [e134; e124; e128; e132; e136; e140] (Equal (U 249) (Minus e146 e79));
  Claim [] (Both (AtMost (Times (Shift (U 251) e154) (Num_ 1)) e155) (Less e155 (Times (Shift (Plus (U 251) (Num_ 1)) e154) (Num_ 1))));
  Claim [] (AtMost (U 251) e149);
  Claim [e143; e124; e128; e132; e136; e140] (AtMost e156 e146);
  Claim [e138; e124; e128; e132; e136; e140] (Equal (U 252) (Minus e146 e106));
  Claim [] (Both (AtMost (Times (Shift (U 254) e157) (Num_ 1)) e158) (Less e158 (Times (Shift (Plus (U 254) (Num_ 1)) e157) (Num_ 1))));
  Claim [] (AtMost (U 254) e149);
  Claim [e143; e124; e128; e132; e136; e140] (AtMost e159 e146);
  Claim [e142; e124; e128; e132; e136; e140] (Equal (U 255) (Minus e146 e121));
  Claim [] (Both (AtMost (Times (Shift (U 256) e160) (Num_ 1)) e161) (Less e161 (Times (Shift (Plus (U 256) (Num_ 1)) e160) (Num_ 1))));
  Claim [] (AtMost (U 256) e162);
  Claim [e124; e128; e132; e136; e140] (Either (Both e163 (Both e163 (Both e163 (Both e163 (Both e163 e143))))) (Either (Both e143 (Equal e145 e146)) (Either (Both e143 (Equal e150 e146)) (Either (Both e143 (Equal e153 e146)) (Either (Both e143 (Equal e156 e146)) (Either (Both e143 (Equal e159 e146)) e163))))));
  Claim [e124; e128; e132; e136; e140] e164;
  Claim [(Both (AtMost e165 (Sg 280)) (AtMost (Sg 280) e166))] (Equal (Sg 281) (Sg 280));
  Claim [(Both (AtMost (Num_ (-134217700)) (Sg 279)) (AtMost (Sg 279) (Num_ 134217700))); (Both (AtMost (Num_ (-16777215)) (Sg 276)) (AtMost (Sg 276) e162))] (Equal (Sg 280) (Plus (Sg 279) (Sg 276)));
  Claim [(Both (AtMost e167 (Sg 277)) (AtMost (Sg 277) e168)); (Both (AtMost e167 (Sg 278)) (AtMost (Sg 278) e168))] (Equal (Sg 279) (Plus (Sg 277) (Sg 278)));
  Claim [(Both (AtMost e169 (Sg 272)) (AtMost (Sg 272) e149)); (Both (AtMost e169 (Sg 273)) (AtMost (Sg 273) e149))] (Equal (Sg 277) (Plus (Sg 272) (Sg 273)));
  Claim [] (Equal (Sg 272) (If (Is 66) (Minus (Num_ 0) (U 245)) (U 245)));
  Claim [] (Equal (Sg 273) (If (Is 110) (Minus (Num_ 0) (U 248)) (U 248)));
  Claim [(Both (AtMost e169 (Sg 274)) (AtMost (Sg 274) e149)); (Both (AtMost e169 (Sg 275)) (AtMost (Sg 275) e149))] (Equal (Sg 278) (Plus (Sg 274) (Sg 275)));
  Claim [] (Equal (Sg 274) (If (Is 154) (Minus (Num_ 0) (U 251)) (U 251)));
  Claim [] (Equal (Sg 275) (If (Is 198) (Minus (Num_ 0) (U 254)) (U 254)));
  Claim [] (Equal (Sg 276) (If (Is 12) (Minus (Num_ 0) (U 256)) (U 256)));
  Claim [e170; e171; e164] e173;
  Claim [e174; e171; e164] e175;
  Claim [e174; (AtMost e176 e177); e171; e164] (Both (Equal (U 369) (Shift e178 (Low (Minus e177 e176) (Num_ 24)))) e172);
  Claim [e174; e179; e171; e164] (Both (AtMost (Shift (U 369) e180) e178) (Less e178 (Shift (Plus (U 369) (Num_ 1)) e180)));
  Claim [e174; e179; e171; e164] (Either (Both (Is 25) e163) (Both e172 (Negation e163)));
  Claim [] (Either (Both (Is 416) e183) (Both e184 e185));
  Claim [e185; e186] (Both (Is 420) (Either (Both (Is 422) e182) (Both e187 (Negation e182))));
  Claim [e185; e188; e189; e190] (Either (Both (Is 420) e197) (Both e198 e199));
  Claim [e185; e188; e189; e190] (Either (Both (Is 422) e200) (Both e187 (Negation e200)));
  Claim [e199; e185; e188; e189; e190] (Equal (U 369) (If e192 (Num_ 0) (If e196 e162 (If e194 e116 e191))));
  Claim [e199; e185; e188; e189; e190] (Equal e201 (If e192 e122 (If e196 (Num_ 127) (Plus e122 e195))));
  Claim [(Is 416)] (Equal (U 435) (Num_ 2147483647));
  Claim [e184; (Is 420)] (Equal (U 435) (Times (Plus e202 (Num_ 2139095040)) (Num_ 1)));
  Claim [e184; e198; e185; e188; e189; e190] (Equal (U 435) (Times (Plus e202 (If (Less e203 e116) e203 (Plus (Times (Plus e201 (Num_ 127)) e116) (Minus e203 e116)))) (Num_ 1)))].
Lemma checked : unit_ok unit_circuit unit_design plan = true. Proof. vm_compute. reflexivity. Qed.
Lemma claimed : unit_claims unit_circuit unit_design plan = certified. Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (root plan) = compute unit_design (words_in plan v).
Proof. rewrite <- claimed. exact (words_to_words _ _ _ checked). Qed.
Print Assumptions refined.
