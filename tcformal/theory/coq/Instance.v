(** ampere/emulated.mma.m8n8k4.f32.f16.f16.f32: its circuit, its cut points and the claims that were certified. *)
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
  Node 11 5 (Extract 10 2);
  Node 12 1 (Extract 15 2);
  Node 13 5 (Const 0);
  Node 14 1 (Eq 11 13);
  Node 15 1 (Not 14);
  Node 16 10 (Extract 0 2);
  Node 17 11 (Concat 15 16);
  Node 18 10 (Const 0);
  Node 19 1 (Eq 16 18);
  Node 23 5 (Const 31);
  Node 24 1 (Eq 11 23);
  Node 25 1 (Const 0);
  Node 26 1 (And 19 24);
  Node 27 1 (Not 19);
  Node 28 1 (And 24 27);
  Node 29 5 (Zext 14);
  Node 30 5 (Or 11 29);
  Node 31 16 (Const 0);
  Node 32 27 (Concat 17 31);
  Node 33 8 (Zext 30);
  Node 34 8 (Const 111);
  Node 35 8 (Add 33 34);
  Node 36 8 (Const 0);
  Node 37 3 (Extract 5 35);
  Node 38 3 (Const 0);
  Node 39 1 (Eq 37 38);
  Node 40 1 (Not 39);
  Node 41 5 (Extract 0 35);
  Node 42 5 (Ite 40 23 41);
  Node 43 16 (Extract 11 32);
  Node 44 1 (Eq 31 43);
  Node 45 1 (Extract 4 42);
  Node 46 1 (Not 44);
  Node 47 1 (And 45 46);
  Node 48 1 (And 44 45);
  Node 50 27 (Const 0);
  Node 51 27 (Ite 48 50 32);
  Node 52 8 (Extract 19 51);
  Node 53 1 (Eq 36 52);
  Node 54 1 (Extract 3 42);
  Node 55 1 (Or 47 54);
  Node 56 1 (Not 53);
  Node 57 1 (And 54 56);
  Node 58 1 (Or 47 57);
  Node 59 1 (And 53 55);
  Node 60 19 (Extract 0 51);
  Node 61 27 (Concat 60 36);
  Node 62 27 (Ite 59 61 51);
  Node 63 4 (Extract 23 62);
  Node 64 4 (Const 0);
  Node 65 1 (Eq 63 64);
  Node 66 1 (Extract 2 42);
  Node 67 1 (Or 58 66);
  Node 68 1 (Not 65);
  Node 69 1 (And 66 68);
  Node 70 1 (Or 58 69);
  Node 71 1 (And 65 67);
  Node 72 23 (Extract 0 62);
  Node 73 27 (Concat 72 64);
  Node 74 27 (Ite 71 73 62);
  Node 75 2 (Extract 25 74);
  Node 76 2 (Const 0);
  Node 77 1 (Eq 75 76);
  Node 78 1 (Extract 1 42);
  Node 79 1 (Or 70 78);
  Node 80 1 (Not 77);
  Node 81 1 (And 78 80);
  Node 82 1 (Or 70 81);
  Node 83 1 (And 77 79);
  Node 84 25 (Extract 0 74);
  Node 85 27 (Concat 84 76);
  Node 86 27 (Ite 83 85 74);
  Node 87 1 (Extract 26 86);
  Node 88 1 (Eq 25 87);
  Node 89 1 (Extract 0 42);
  Node 90 1 (Or 82 89);
  Node 94 1 (And 88 90);
  Node 95 26 (Extract 0 86);
  Node 96 27 (Concat 95 25);
  Node 97 27 (Ite 94 96 86);
  Node 98 2 (Concat 48 59);
  Node 99 3 (Concat 98 71);
  Node 100 4 (Concat 99 83);
  Node 101 5 (Concat 100 94);
  Node 102 8 (Zext 101);
  Node 103 8 (Sub 35 102);
  Node 104 24 (Extract 3 97);
  Node 105 1 (Extract 2 97);
  Node 106 2 (Extract 0 97);
  Node 107 1 (Eq 76 106);
  Node 108 1 (Not 107);
  Node 109 1 (Extract 3 97);
  Node 110 1 (Or 108 109);
  Node 111 1 (And 105 110);
  Node 112 25 (Zext 104);
  Node 113 25 (Zext 111);
  Node 114 25 (Add 112 113);
  Node 115 1 (Extract 24 114);
  Node 116 24 (Const 8388608);
  Node 117 24 (Extract 0 114);
  Node 118 24 (Ite 115 116 117);
  Node 119 24 (Const 0);
  Node 120 1 (Eq 118 119);
  Node 121 9 (Zext 103);
  Node 122 9 (Zext 115);
  Node 123 9 (Add 121 122);
  Node 124 1 (Not 120);
  Node 125 9 (Const 253);
  Node 126 1 (Ult 125 123);
  Node 127 1 (And 124 126);
  Node 128 9 (Const 0);
  Node 129 9 (Ite 120 128 123);
  Node 130 8 (Extract 0 129);
  Node 131 1 (Or 26 28);
  Node 132 1 (Not 131);
  Node 133 1 (And 127 132);
  Node 134 1 (Or 26 133);
  Node 135 32 (Const 2143289344);
  Node 136 1 (Extract 23 118);
  Node 137 8 (Zext 136);
  Node 138 8 (Add 130 137);
  Node 139 23 (Extract 0 118);
  Node 140 31 (Concat 138 139);
  Node 141 32 (Concat 12 140);
  Node 142 31 (Const 2139095040);
  Node 143 32 (Concat 12 142);
  Node 144 32 (Ite 134 143 141);
  Node 145 32 (Ite 28 135 144);
  Node 146 5 (Extract 10 4);
  Node 147 1 (Extract 15 4);
  Node 148 1 (Eq 13 146);
  Node 149 1 (Not 148);
  Node 150 10 (Extract 0 4);
  Node 151 11 (Concat 149 150);
  Node 152 1 (Eq 18 150);
  Node 155 1 (Eq 23 146);
  Node 156 1 (And 152 155);
  Node 157 1 (Not 152);
  Node 158 1 (And 155 157);
  Node 159 5 (Zext 148);
  Node 160 5 (Or 146 159);
  Node 161 27 (Concat 151 31);
  Node 162 8 (Zext 160);
  Node 163 8 (Add 34 162);
  Node 164 3 (Extract 5 163);
  Node 165 1 (Eq 38 164);
  Node 166 1 (Not 165);
  Node 167 5 (Extract 0 163);
  Node 168 5 (Ite 166 23 167);
  Node 169 16 (Extract 11 161);
  Node 170 1 (Eq 31 169);
  Node 171 1 (Extract 4 168);
  Node 172 1 (Not 170);
  Node 173 1 (And 171 172);
  Node 174 1 (And 170 171);
  Node 175 27 (Ite 174 50 161);
  Node 176 8 (Extract 19 175);
  Node 177 1 (Eq 36 176);
  Node 178 1 (Extract 3 168);
  Node 179 1 (Or 173 178);
  Node 180 1 (Not 177);
  Node 181 1 (And 178 180);
  Node 182 1 (Or 173 181);
  Node 183 1 (And 177 179);
  Node 184 19 (Extract 0 175);
  Node 185 27 (Concat 184 36);
  Node 186 27 (Ite 183 185 175);
  Node 187 4 (Extract 23 186);
  Node 188 1 (Eq 64 187);
  Node 189 1 (Extract 2 168);
  Node 190 1 (Or 182 189);
  Node 191 1 (Not 188);
  Node 192 1 (And 189 191);
  Node 193 1 (Or 182 192);
  Node 194 1 (And 188 190);
  Node 195 23 (Extract 0 186);
  Node 196 27 (Concat 195 64);
  Node 197 27 (Ite 194 196 186);
  Node 198 2 (Extract 25 197);
  Node 199 1 (Eq 76 198);
  Node 200 1 (Extract 1 168);
  Node 201 1 (Or 193 200);
  Node 202 1 (Not 199);
  Node 203 1 (And 200 202);
  Node 204 1 (Or 193 203);
  Node 205 1 (And 199 201);
  Node 206 25 (Extract 0 197);
  Node 207 27 (Concat 206 76);
  Node 208 27 (Ite 205 207 197);
  Node 209 1 (Extract 26 208);
  Node 210 1 (Eq 25 209);
  Node 211 1 (Extract 0 168);
  Node 212 1 (Or 204 211);
  Node 216 1 (And 210 212);
  Node 217 26 (Extract 0 208);
  Node 218 27 (Concat 217 25);
  Node 219 27 (Ite 216 218 208);
  Node 220 2 (Concat 174 183);
  Node 221 3 (Concat 220 194);
  Node 222 4 (Concat 221 205);
  Node 223 5 (Concat 222 216);
  Node 224 8 (Zext 223);
  Node 225 8 (Sub 163 224);
  Node 226 24 (Extract 3 219);
  Node 227 1 (Extract 2 219);
  Node 228 2 (Extract 0 219);
  Node 229 1 (Eq 76 228);
  Node 230 1 (Not 229);
  Node 231 1 (Extract 3 219);
  Node 232 1 (Or 230 231);
  Node 233 1 (And 227 232);
  Node 234 25 (Zext 226);
  Node 235 25 (Zext 233);
  Node 236 25 (Add 234 235);
  Node 237 1 (Extract 24 236);
  Node 238 24 (Extract 0 236);
  Node 239 24 (Ite 237 116 238);
  Node 240 1 (Eq 119 239);
  Node 241 9 (Zext 225);
  Node 242 9 (Zext 237);
  Node 243 9 (Add 241 242);
  Node 244 1 (Not 240);
  Node 245 1 (Ult 125 243);
  Node 246 1 (And 244 245);
  Node 247 9 (Ite 240 128 243);
  Node 248 8 (Extract 0 247);
  Node 249 1 (Or 156 158);
  Node 250 1 (Not 249);
  Node 251 1 (And 246 250);
  Node 252 1 (Or 156 251);
  Node 253 1 (Extract 23 239);
  Node 254 8 (Zext 253);
  Node 255 8 (Add 248 254);
  Node 256 23 (Extract 0 239);
  Node 257 31 (Concat 255 256);
  Node 258 32 (Concat 147 257);
  Node 259 32 (Concat 147 142);
  Node 260 32 (Ite 252 259 258);
  Node 261 32 (Ite 158 135 260);
  Node 262 5 (Extract 10 6);
  Node 263 1 (Extract 15 6);
  Node 264 1 (Eq 13 262);
  Node 265 1 (Not 264);
  Node 266 10 (Extract 0 6);
  Node 267 11 (Concat 265 266);
  Node 268 1 (Eq 18 266);
  Node 271 1 (Eq 23 262);
  Node 272 1 (And 268 271);
  Node 273 1 (Not 268);
  Node 274 1 (And 271 273);
  Node 275 5 (Zext 264);
  Node 276 5 (Or 262 275);
  Node 277 27 (Concat 267 31);
  Node 278 8 (Zext 276);
  Node 279 8 (Add 34 278);
  Node 280 3 (Extract 5 279);
  Node 281 1 (Eq 38 280);
  Node 282 1 (Not 281);
  Node 283 5 (Extract 0 279);
  Node 284 5 (Ite 282 23 283);
  Node 285 16 (Extract 11 277);
  Node 286 1 (Eq 31 285);
  Node 287 1 (Extract 4 284);
  Node 288 1 (Not 286);
  Node 289 1 (And 287 288);
  Node 290 1 (And 286 287);
  Node 291 27 (Ite 290 50 277);
  Node 292 8 (Extract 19 291);
  Node 293 1 (Eq 36 292);
  Node 294 1 (Extract 3 284);
  Node 295 1 (Or 289 294);
  Node 296 1 (Not 293);
  Node 297 1 (And 294 296);
  Node 298 1 (Or 289 297);
  Node 299 1 (And 293 295);
  Node 300 19 (Extract 0 291);
  Node 301 27 (Concat 300 36);
  Node 302 27 (Ite 299 301 291);
  Node 303 4 (Extract 23 302);
  Node 304 1 (Eq 64 303);
  Node 305 1 (Extract 2 284);
  Node 306 1 (Or 298 305);
  Node 307 1 (Not 304);
  Node 308 1 (And 305 307);
  Node 309 1 (Or 298 308);
  Node 310 1 (And 304 306);
  Node 311 23 (Extract 0 302);
  Node 312 27 (Concat 311 64);
  Node 313 27 (Ite 310 312 302);
  Node 314 2 (Extract 25 313);
  Node 315 1 (Eq 76 314);
  Node 316 1 (Extract 1 284);
  Node 317 1 (Or 309 316);
  Node 318 1 (Not 315);
  Node 319 1 (And 316 318);
  Node 320 1 (Or 309 319);
  Node 321 1 (And 315 317);
  Node 322 25 (Extract 0 313);
  Node 323 27 (Concat 322 76);
  Node 324 27 (Ite 321 323 313);
  Node 325 1 (Extract 26 324);
  Node 326 1 (Eq 25 325);
  Node 327 1 (Extract 0 284);
  Node 328 1 (Or 320 327);
  Node 332 1 (And 326 328);
  Node 333 26 (Extract 0 324);
  Node 334 27 (Concat 333 25);
  Node 335 27 (Ite 332 334 324);
  Node 336 2 (Concat 290 299);
  Node 337 3 (Concat 336 310);
  Node 338 4 (Concat 337 321);
  Node 339 5 (Concat 338 332);
  Node 340 8 (Zext 339);
  Node 341 8 (Sub 279 340);
  Node 342 24 (Extract 3 335);
  Node 343 1 (Extract 2 335);
  Node 344 2 (Extract 0 335);
  Node 345 1 (Eq 76 344);
  Node 346 1 (Not 345);
  Node 347 1 (Extract 3 335);
  Node 348 1 (Or 346 347);
  Node 349 1 (And 343 348);
  Node 350 25 (Zext 342);
  Node 351 25 (Zext 349);
  Node 352 25 (Add 350 351);
  Node 353 1 (Extract 24 352);
  Node 354 24 (Extract 0 352);
  Node 355 24 (Ite 353 116 354);
  Node 356 1 (Eq 119 355);
  Node 357 9 (Zext 341);
  Node 358 9 (Zext 353);
  Node 359 9 (Add 357 358);
  Node 360 1 (Not 356);
  Node 361 1 (Ult 125 359);
  Node 362 1 (And 360 361);
  Node 363 9 (Ite 356 128 359);
  Node 364 8 (Extract 0 363);
  Node 365 1 (Or 272 274);
  Node 366 1 (Not 365);
  Node 367 1 (And 362 366);
  Node 368 1 (Or 272 367);
  Node 369 1 (Extract 23 355);
  Node 370 8 (Zext 369);
  Node 371 8 (Add 364 370);
  Node 372 23 (Extract 0 355);
  Node 373 31 (Concat 371 372);
  Node 374 32 (Concat 263 373);
  Node 375 32 (Concat 263 142);
  Node 376 32 (Ite 368 375 374);
  Node 377 32 (Ite 274 135 376);
  Node 378 5 (Extract 10 8);
  Node 379 1 (Extract 15 8);
  Node 380 1 (Eq 13 378);
  Node 381 1 (Not 380);
  Node 382 10 (Extract 0 8);
  Node 383 11 (Concat 381 382);
  Node 384 1 (Eq 18 382);
  Node 387 1 (Eq 23 378);
  Node 388 1 (And 384 387);
  Node 389 1 (Not 384);
  Node 390 1 (And 387 389);
  Node 391 5 (Zext 380);
  Node 392 5 (Or 378 391);
  Node 393 27 (Concat 383 31);
  Node 394 8 (Zext 392);
  Node 395 8 (Add 34 394);
  Node 396 3 (Extract 5 395);
  Node 397 1 (Eq 38 396);
  Node 398 1 (Not 397);
  Node 399 5 (Extract 0 395);
  Node 400 5 (Ite 398 23 399);
  Node 401 16 (Extract 11 393);
  Node 402 1 (Eq 31 401);
  Node 403 1 (Extract 4 400);
  Node 404 1 (Not 402);
  Node 405 1 (And 403 404);
  Node 406 1 (And 402 403);
  Node 407 27 (Ite 406 50 393);
  Node 408 8 (Extract 19 407);
  Node 409 1 (Eq 36 408);
  Node 410 1 (Extract 3 400);
  Node 411 1 (Or 405 410);
  Node 412 1 (Not 409);
  Node 413 1 (And 410 412);
  Node 414 1 (Or 405 413);
  Node 415 1 (And 409 411);
  Node 416 19 (Extract 0 407);
  Node 417 27 (Concat 416 36);
  Node 418 27 (Ite 415 417 407);
  Node 419 4 (Extract 23 418);
  Node 420 1 (Eq 64 419);
  Node 421 1 (Extract 2 400);
  Node 422 1 (Or 414 421);
  Node 423 1 (Not 420);
  Node 424 1 (And 421 423);
  Node 425 1 (Or 414 424);
  Node 426 1 (And 420 422);
  Node 427 23 (Extract 0 418);
  Node 428 27 (Concat 427 64);
  Node 429 27 (Ite 426 428 418);
  Node 430 2 (Extract 25 429);
  Node 431 1 (Eq 76 430);
  Node 432 1 (Extract 1 400);
  Node 433 1 (Or 425 432);
  Node 434 1 (Not 431);
  Node 435 1 (And 432 434);
  Node 436 1 (Or 425 435);
  Node 437 1 (And 431 433);
  Node 438 25 (Extract 0 429);
  Node 439 27 (Concat 438 76);
  Node 440 27 (Ite 437 439 429);
  Node 441 1 (Extract 26 440);
  Node 442 1 (Eq 25 441);
  Node 443 1 (Extract 0 400);
  Node 444 1 (Or 436 443);
  Node 448 1 (And 442 444);
  Node 449 26 (Extract 0 440);
  Node 450 27 (Concat 449 25);
  Node 451 27 (Ite 448 450 440);
  Node 452 2 (Concat 406 415);
  Node 453 3 (Concat 452 426);
  Node 454 4 (Concat 453 437);
  Node 455 5 (Concat 454 448);
  Node 456 8 (Zext 455);
  Node 457 8 (Sub 395 456);
  Node 458 24 (Extract 3 451);
  Node 459 1 (Extract 2 451);
  Node 460 2 (Extract 0 451);
  Node 461 1 (Eq 76 460);
  Node 462 1 (Not 461);
  Node 463 1 (Extract 3 451);
  Node 464 1 (Or 462 463);
  Node 465 1 (And 459 464);
  Node 466 25 (Zext 458);
  Node 467 25 (Zext 465);
  Node 468 25 (Add 466 467);
  Node 469 1 (Extract 24 468);
  Node 470 24 (Extract 0 468);
  Node 471 24 (Ite 469 116 470);
  Node 472 1 (Eq 119 471);
  Node 473 9 (Zext 457);
  Node 474 9 (Zext 469);
  Node 475 9 (Add 473 474);
  Node 476 1 (Not 472);
  Node 477 1 (Ult 125 475);
  Node 478 1 (And 476 477);
  Node 479 9 (Ite 472 128 475);
  Node 480 8 (Extract 0 479);
  Node 481 1 (Or 388 390);
  Node 482 1 (Not 481);
  Node 483 1 (And 478 482);
  Node 484 1 (Or 388 483);
  Node 485 1 (Extract 23 471);
  Node 486 8 (Zext 485);
  Node 487 8 (Add 480 486);
  Node 488 23 (Extract 0 471);
  Node 489 31 (Concat 487 488);
  Node 490 32 (Concat 379 489);
  Node 491 32 (Concat 379 142);
  Node 492 32 (Ite 484 491 490);
  Node 493 32 (Ite 390 135 492);
  Node 494 5 (Extract 10 3);
  Node 495 1 (Extract 15 3);
  Node 496 1 (Eq 13 494);
  Node 497 1 (Not 496);
  Node 498 10 (Extract 0 3);
  Node 499 11 (Concat 497 498);
  Node 500 1 (Eq 18 498);
  Node 503 1 (Eq 23 494);
  Node 504 1 (And 500 503);
  Node 505 1 (Not 500);
  Node 506 1 (And 503 505);
  Node 507 5 (Zext 496);
  Node 508 5 (Or 494 507);
  Node 509 27 (Concat 499 31);
  Node 510 8 (Zext 508);
  Node 511 8 (Add 34 510);
  Node 512 3 (Extract 5 511);
  Node 513 1 (Eq 38 512);
  Node 514 1 (Not 513);
  Node 515 5 (Extract 0 511);
  Node 516 5 (Ite 514 23 515);
  Node 517 16 (Extract 11 509);
  Node 518 1 (Eq 31 517);
  Node 519 1 (Extract 4 516);
  Node 520 1 (Not 518);
  Node 521 1 (And 519 520);
  Node 522 1 (And 518 519);
  Node 523 27 (Ite 522 50 509);
  Node 524 8 (Extract 19 523);
  Node 525 1 (Eq 36 524);
  Node 526 1 (Extract 3 516);
  Node 527 1 (Or 521 526);
  Node 528 1 (Not 525);
  Node 529 1 (And 526 528);
  Node 530 1 (Or 521 529);
  Node 531 1 (And 525 527);
  Node 532 19 (Extract 0 523);
  Node 533 27 (Concat 532 36);
  Node 534 27 (Ite 531 533 523);
  Node 535 4 (Extract 23 534);
  Node 536 1 (Eq 64 535);
  Node 537 1 (Extract 2 516);
  Node 538 1 (Or 530 537);
  Node 539 1 (Not 536);
  Node 540 1 (And 537 539);
  Node 541 1 (Or 530 540);
  Node 542 1 (And 536 538);
  Node 543 23 (Extract 0 534);
  Node 544 27 (Concat 543 64);
  Node 545 27 (Ite 542 544 534);
  Node 546 2 (Extract 25 545);
  Node 547 1 (Eq 76 546);
  Node 548 1 (Extract 1 516);
  Node 549 1 (Or 541 548);
  Node 550 1 (Not 547);
  Node 551 1 (And 548 550);
  Node 552 1 (Or 541 551);
  Node 553 1 (And 547 549);
  Node 554 25 (Extract 0 545);
  Node 555 27 (Concat 554 76);
  Node 556 27 (Ite 553 555 545);
  Node 557 1 (Extract 26 556);
  Node 558 1 (Eq 25 557);
  Node 559 1 (Extract 0 516);
  Node 560 1 (Or 552 559);
  Node 564 1 (And 558 560);
  Node 565 26 (Extract 0 556);
  Node 566 27 (Concat 565 25);
  Node 567 27 (Ite 564 566 556);
  Node 568 2 (Concat 522 531);
  Node 569 3 (Concat 568 542);
  Node 570 4 (Concat 569 553);
  Node 571 5 (Concat 570 564);
  Node 572 8 (Zext 571);
  Node 573 8 (Sub 511 572);
  Node 574 24 (Extract 3 567);
  Node 575 1 (Extract 2 567);
  Node 576 2 (Extract 0 567);
  Node 577 1 (Eq 76 576);
  Node 578 1 (Not 577);
  Node 579 1 (Extract 3 567);
  Node 580 1 (Or 578 579);
  Node 581 1 (And 575 580);
  Node 582 25 (Zext 574);
  Node 583 25 (Zext 581);
  Node 584 25 (Add 582 583);
  Node 585 1 (Extract 24 584);
  Node 586 24 (Extract 0 584);
  Node 587 24 (Ite 585 116 586);
  Node 588 1 (Eq 119 587);
  Node 589 9 (Zext 573);
  Node 590 9 (Zext 585);
  Node 591 9 (Add 589 590);
  Node 592 1 (Not 588);
  Node 593 1 (Ult 125 591);
  Node 594 1 (And 592 593);
  Node 595 9 (Ite 588 128 591);
  Node 596 8 (Extract 0 595);
  Node 597 1 (Or 504 506);
  Node 598 1 (Not 597);
  Node 599 1 (And 594 598);
  Node 600 1 (Or 504 599);
  Node 601 1 (Extract 23 587);
  Node 602 8 (Zext 601);
  Node 603 8 (Add 596 602);
  Node 604 23 (Extract 0 587);
  Node 605 31 (Concat 603 604);
  Node 606 32 (Concat 495 605);
  Node 607 32 (Concat 495 142);
  Node 608 32 (Ite 600 607 606);
  Node 609 32 (Ite 506 135 608);
  Node 610 5 (Extract 10 5);
  Node 611 1 (Extract 15 5);
  Node 612 1 (Eq 13 610);
  Node 613 1 (Not 612);
  Node 614 10 (Extract 0 5);
  Node 615 11 (Concat 613 614);
  Node 616 1 (Eq 18 614);
  Node 619 1 (Eq 23 610);
  Node 620 1 (And 616 619);
  Node 621 1 (Not 616);
  Node 622 1 (And 619 621);
  Node 623 5 (Zext 612);
  Node 624 5 (Or 610 623);
  Node 625 27 (Concat 615 31);
  Node 626 8 (Zext 624);
  Node 627 8 (Add 34 626);
  Node 628 3 (Extract 5 627);
  Node 629 1 (Eq 38 628);
  Node 630 1 (Not 629);
  Node 631 5 (Extract 0 627);
  Node 632 5 (Ite 630 23 631);
  Node 633 16 (Extract 11 625);
  Node 634 1 (Eq 31 633);
  Node 635 1 (Extract 4 632);
  Node 636 1 (Not 634);
  Node 637 1 (And 635 636);
  Node 638 1 (And 634 635);
  Node 639 27 (Ite 638 50 625);
  Node 640 8 (Extract 19 639);
  Node 641 1 (Eq 36 640);
  Node 642 1 (Extract 3 632);
  Node 643 1 (Or 637 642);
  Node 644 1 (Not 641);
  Node 645 1 (And 642 644);
  Node 646 1 (Or 637 645);
  Node 647 1 (And 641 643);
  Node 648 19 (Extract 0 639);
  Node 649 27 (Concat 648 36);
  Node 650 27 (Ite 647 649 639);
  Node 651 4 (Extract 23 650);
  Node 652 1 (Eq 64 651);
  Node 653 1 (Extract 2 632);
  Node 654 1 (Or 646 653);
  Node 655 1 (Not 652);
  Node 656 1 (And 653 655);
  Node 657 1 (Or 646 656);
  Node 658 1 (And 652 654);
  Node 659 23 (Extract 0 650);
  Node 660 27 (Concat 659 64);
  Node 661 27 (Ite 658 660 650);
  Node 662 2 (Extract 25 661);
  Node 663 1 (Eq 76 662);
  Node 664 1 (Extract 1 632);
  Node 665 1 (Or 657 664);
  Node 666 1 (Not 663);
  Node 667 1 (And 664 666);
  Node 668 1 (Or 657 667);
  Node 669 1 (And 663 665);
  Node 670 25 (Extract 0 661);
  Node 671 27 (Concat 670 76);
  Node 672 27 (Ite 669 671 661);
  Node 673 1 (Extract 26 672);
  Node 674 1 (Eq 25 673);
  Node 675 1 (Extract 0 632);
  Node 676 1 (Or 668 675);
  Node 680 1 (And 674 676);
  Node 681 26 (Extract 0 672);
  Node 682 27 (Concat 681 25);
  Node 683 27 (Ite 680 682 672);
  Node 684 2 (Concat 638 647);
  Node 685 3 (Concat 684 658);
  Node 686 4 (Concat 685 669);
  Node 687 5 (Concat 686 680);
  Node 688 8 (Zext 687);
  Node 689 8 (Sub 627 688);
  Node 690 24 (Extract 3 683);
  Node 691 1 (Extract 2 683);
  Node 692 2 (Extract 0 683);
  Node 693 1 (Eq 76 692);
  Node 694 1 (Not 693);
  Node 695 1 (Extract 3 683);
  Node 696 1 (Or 694 695);
  Node 697 1 (And 691 696);
  Node 698 25 (Zext 690);
  Node 699 25 (Zext 697);
  Node 700 25 (Add 698 699);
  Node 701 1 (Extract 24 700);
  Node 702 24 (Extract 0 700);
  Node 703 24 (Ite 701 116 702);
  Node 704 1 (Eq 119 703);
  Node 705 9 (Zext 689);
  Node 706 9 (Zext 701);
  Node 707 9 (Add 705 706);
  Node 708 1 (Not 704);
  Node 709 1 (Ult 125 707);
  Node 710 1 (And 708 709);
  Node 711 9 (Ite 704 128 707);
  Node 712 8 (Extract 0 711);
  Node 713 1 (Or 620 622);
  Node 714 1 (Not 713);
  Node 715 1 (And 710 714);
  Node 716 1 (Or 620 715);
  Node 717 1 (Extract 23 703);
  Node 718 8 (Zext 717);
  Node 719 8 (Add 712 718);
  Node 720 23 (Extract 0 703);
  Node 721 31 (Concat 719 720);
  Node 722 32 (Concat 611 721);
  Node 723 32 (Concat 611 142);
  Node 724 32 (Ite 716 723 722);
  Node 725 32 (Ite 622 135 724);
  Node 726 5 (Extract 10 7);
  Node 727 1 (Extract 15 7);
  Node 728 1 (Eq 13 726);
  Node 729 1 (Not 728);
  Node 730 10 (Extract 0 7);
  Node 731 11 (Concat 729 730);
  Node 732 1 (Eq 18 730);
  Node 735 1 (Eq 23 726);
  Node 736 1 (And 732 735);
  Node 737 1 (Not 732);
  Node 738 1 (And 735 737);
  Node 739 5 (Zext 728);
  Node 740 5 (Or 726 739);
  Node 741 27 (Concat 731 31);
  Node 742 8 (Zext 740);
  Node 743 8 (Add 34 742);
  Node 744 3 (Extract 5 743);
  Node 745 1 (Eq 38 744);
  Node 746 1 (Not 745);
  Node 747 5 (Extract 0 743);
  Node 748 5 (Ite 746 23 747);
  Node 749 16 (Extract 11 741);
  Node 750 1 (Eq 31 749);
  Node 751 1 (Extract 4 748);
  Node 752 1 (Not 750);
  Node 753 1 (And 751 752);
  Node 754 1 (And 750 751);
  Node 755 27 (Ite 754 50 741);
  Node 756 8 (Extract 19 755);
  Node 757 1 (Eq 36 756);
  Node 758 1 (Extract 3 748);
  Node 759 1 (Or 753 758);
  Node 760 1 (Not 757);
  Node 761 1 (And 758 760);
  Node 762 1 (Or 753 761);
  Node 763 1 (And 757 759);
  Node 764 19 (Extract 0 755);
  Node 765 27 (Concat 764 36);
  Node 766 27 (Ite 763 765 755);
  Node 767 4 (Extract 23 766);
  Node 768 1 (Eq 64 767);
  Node 769 1 (Extract 2 748);
  Node 770 1 (Or 762 769);
  Node 771 1 (Not 768);
  Node 772 1 (And 769 771);
  Node 773 1 (Or 762 772);
  Node 774 1 (And 768 770);
  Node 775 23 (Extract 0 766);
  Node 776 27 (Concat 775 64);
  Node 777 27 (Ite 774 776 766);
  Node 778 2 (Extract 25 777);
  Node 779 1 (Eq 76 778);
  Node 780 1 (Extract 1 748);
  Node 781 1 (Or 773 780);
  Node 782 1 (Not 779);
  Node 783 1 (And 780 782);
  Node 784 1 (Or 773 783);
  Node 785 1 (And 779 781);
  Node 786 25 (Extract 0 777);
  Node 787 27 (Concat 786 76);
  Node 788 27 (Ite 785 787 777);
  Node 789 1 (Extract 26 788);
  Node 790 1 (Eq 25 789);
  Node 791 1 (Extract 0 748);
  Node 792 1 (Or 784 791);
  Node 796 1 (And 790 792);
  Node 797 26 (Extract 0 788);
  Node 798 27 (Concat 797 25);
  Node 799 27 (Ite 796 798 788);
  Node 800 2 (Concat 754 763);
  Node 801 3 (Concat 800 774);
  Node 802 4 (Concat 801 785);
  Node 803 5 (Concat 802 796);
  Node 804 8 (Zext 803);
  Node 805 8 (Sub 743 804);
  Node 806 24 (Extract 3 799);
  Node 807 1 (Extract 2 799);
  Node 808 2 (Extract 0 799);
  Node 809 1 (Eq 76 808);
  Node 810 1 (Not 809);
  Node 811 1 (Extract 3 799);
  Node 812 1 (Or 810 811);
  Node 813 1 (And 807 812);
  Node 814 25 (Zext 806);
  Node 815 25 (Zext 813);
  Node 816 25 (Add 814 815);
  Node 817 1 (Extract 24 816);
  Node 818 24 (Extract 0 816);
  Node 819 24 (Ite 817 116 818);
  Node 820 1 (Eq 119 819);
  Node 821 9 (Zext 805);
  Node 822 9 (Zext 817);
  Node 823 9 (Add 821 822);
  Node 824 1 (Not 820);
  Node 825 1 (Ult 125 823);
  Node 826 1 (And 824 825);
  Node 827 9 (Ite 820 128 823);
  Node 828 8 (Extract 0 827);
  Node 829 1 (Or 736 738);
  Node 830 1 (Not 829);
  Node 831 1 (And 826 830);
  Node 832 1 (Or 736 831);
  Node 833 1 (Extract 23 819);
  Node 834 8 (Zext 833);
  Node 835 8 (Add 828 834);
  Node 836 23 (Extract 0 819);
  Node 837 31 (Concat 835 836);
  Node 838 32 (Concat 727 837);
  Node 839 32 (Concat 727 142);
  Node 840 32 (Ite 832 839 838);
  Node 841 32 (Ite 738 135 840);
  Node 842 5 (Extract 10 9);
  Node 843 1 (Extract 15 9);
  Node 844 1 (Eq 13 842);
  Node 845 1 (Not 844);
  Node 846 10 (Extract 0 9);
  Node 847 11 (Concat 845 846);
  Node 848 1 (Eq 18 846);
  Node 851 1 (Eq 23 842);
  Node 852 1 (And 848 851);
  Node 853 1 (Not 848);
  Node 854 1 (And 851 853);
  Node 855 5 (Zext 844);
  Node 856 5 (Or 842 855);
  Node 857 27 (Concat 847 31);
  Node 858 8 (Zext 856);
  Node 859 8 (Add 34 858);
  Node 860 3 (Extract 5 859);
  Node 861 1 (Eq 38 860);
  Node 862 1 (Not 861);
  Node 863 5 (Extract 0 859);
  Node 864 5 (Ite 862 23 863);
  Node 865 16 (Extract 11 857);
  Node 866 1 (Eq 31 865);
  Node 867 1 (Extract 4 864);
  Node 868 1 (Not 866);
  Node 869 1 (And 867 868);
  Node 870 1 (And 866 867);
  Node 871 27 (Ite 870 50 857);
  Node 872 8 (Extract 19 871);
  Node 873 1 (Eq 36 872);
  Node 874 1 (Extract 3 864);
  Node 875 1 (Or 869 874);
  Node 876 1 (Not 873);
  Node 877 1 (And 874 876);
  Node 878 1 (Or 869 877);
  Node 879 1 (And 873 875);
  Node 880 19 (Extract 0 871);
  Node 881 27 (Concat 880 36);
  Node 882 27 (Ite 879 881 871);
  Node 883 4 (Extract 23 882);
  Node 884 1 (Eq 64 883);
  Node 885 1 (Extract 2 864);
  Node 886 1 (Or 878 885);
  Node 887 1 (Not 884);
  Node 888 1 (And 885 887);
  Node 889 1 (Or 878 888);
  Node 890 1 (And 884 886);
  Node 891 23 (Extract 0 882);
  Node 892 27 (Concat 891 64);
  Node 893 27 (Ite 890 892 882);
  Node 894 2 (Extract 25 893);
  Node 895 1 (Eq 76 894);
  Node 896 1 (Extract 1 864);
  Node 897 1 (Or 889 896);
  Node 898 1 (Not 895);
  Node 899 1 (And 896 898);
  Node 900 1 (Or 889 899);
  Node 901 1 (And 895 897);
  Node 902 25 (Extract 0 893);
  Node 903 27 (Concat 902 76);
  Node 904 27 (Ite 901 903 893);
  Node 905 1 (Extract 26 904);
  Node 906 1 (Eq 25 905);
  Node 907 1 (Extract 0 864);
  Node 908 1 (Or 900 907);
  Node 912 1 (And 906 908);
  Node 913 26 (Extract 0 904);
  Node 914 27 (Concat 913 25);
  Node 915 27 (Ite 912 914 904);
  Node 916 2 (Concat 870 879);
  Node 917 3 (Concat 916 890);
  Node 918 4 (Concat 917 901);
  Node 919 5 (Concat 918 912);
  Node 920 8 (Zext 919);
  Node 921 8 (Sub 859 920);
  Node 922 24 (Extract 3 915);
  Node 923 1 (Extract 2 915);
  Node 924 2 (Extract 0 915);
  Node 925 1 (Eq 76 924);
  Node 926 1 (Not 925);
  Node 927 1 (Extract 3 915);
  Node 928 1 (Or 926 927);
  Node 929 1 (And 923 928);
  Node 930 25 (Zext 922);
  Node 931 25 (Zext 929);
  Node 932 25 (Add 930 931);
  Node 933 1 (Extract 24 932);
  Node 934 24 (Extract 0 932);
  Node 935 24 (Ite 933 116 934);
  Node 936 1 (Eq 119 935);
  Node 937 9 (Zext 921);
  Node 938 9 (Zext 933);
  Node 939 9 (Add 937 938);
  Node 940 1 (Not 936);
  Node 941 1 (Ult 125 939);
  Node 942 1 (And 940 941);
  Node 943 9 (Ite 936 128 939);
  Node 944 8 (Extract 0 943);
  Node 945 1 (Or 852 854);
  Node 946 1 (Not 945);
  Node 947 1 (And 942 946);
  Node 948 1 (Or 852 947);
  Node 949 1 (Extract 23 935);
  Node 950 8 (Zext 949);
  Node 951 8 (Add 944 950);
  Node 952 23 (Extract 0 935);
  Node 953 31 (Concat 951 952);
  Node 954 32 (Concat 843 953);
  Node 955 32 (Concat 843 142);
  Node 956 32 (Ite 948 955 954);
  Node 957 32 (Ite 854 135 956);
  Node 958 32 (Const 0);
  Node 959 1 (Const 1);
  Node 960 23 (Const 0);
  Node 962 8 (Const 255);
  Node 963 8 (Const 1);
  Node 964 32 (Const 2147483647);
  Node 965 8 (Extract 23 145);
  Node 966 1 (Extract 31 145);
  Node 967 1 (Eq 36 965);
  Node 968 1 (Not 967);
  Node 969 23 (Extract 0 145);
  Node 970 24 (Concat 968 969);
  Node 971 1 (Eq 960 969);
  Node 973 1 (And 967 971);
  Node 974 1 (Eq 962 965);
  Node 975 1 (And 971 974);
  Node 976 1 (Not 971);
  Node 977 1 (And 974 976);
  Node 978 8 (Zext 967);
  Node 979 8 (Or 965 978);
  Node 980 8 (Extract 23 609);
  Node 981 1 (Extract 31 609);
  Node 982 1 (Eq 36 980);
  Node 983 1 (Not 982);
  Node 984 23 (Extract 0 609);
  Node 985 24 (Concat 983 984);
  Node 986 1 (Eq 960 984);
  Node 988 1 (And 982 986);
  Node 989 1 (Eq 962 980);
  Node 990 1 (And 986 989);
  Node 991 1 (Not 986);
  Node 992 1 (And 989 991);
  Node 993 8 (Zext 982);
  Node 994 8 (Or 980 993);
  Node 995 1 (Xor 966 981);
  Node 996 48 (Mul 970 985);
  Node 997 9 (Zext 979);
  Node 998 9 (Zext 994);
  Node 999 9 (Add 997 998);
  Node 1000 1 (Or 973 988);
  Node 1001 1 (And 975 988);
  Node 1002 1 (And 973 990);
  Node 1003 1 (Or 1001 1002);
  Node 1004 1 (Or 977 992);
  Node 1005 1 (Or 1003 1004);
  Node 1006 1 (Or 975 990);
  Node 1007 1 (Not 1005);
  Node 1008 1 (And 1006 1007);
  Node 1009 32 (Extract 16 996);
  Node 1010 1 (Eq 958 1009);
  Node 1011 16 (Extract 0 996);
  Node 1012 48 (Concat 1011 958);
  Node 1013 48 (Ite 1010 1012 996);
  Node 1014 16 (Extract 32 1013);
  Node 1015 1 (Eq 31 1014);
  Node 1016 32 (Extract 0 1013);
  Node 1017 48 (Concat 1016 31);
  Node 1018 48 (Ite 1015 1017 1013);
  Node 1019 8 (Extract 40 1018);
  Node 1020 1 (Eq 36 1019);
  Node 1021 40 (Extract 0 1018);
  Node 1022 48 (Concat 1021 36);
  Node 1023 48 (Ite 1020 1022 1018);
  Node 1024 4 (Extract 44 1023);
  Node 1025 1 (Eq 64 1024);
  Node 1026 44 (Extract 0 1023);
  Node 1027 48 (Concat 1026 64);
  Node 1028 48 (Ite 1025 1027 1023);
  Node 1029 2 (Extract 46 1028);
  Node 1030 1 (Eq 76 1029);
  Node 1031 46 (Extract 0 1028);
  Node 1032 48 (Concat 1031 76);
  Node 1033 48 (Ite 1030 1032 1028);
  Node 1034 1 (Extract 47 1033);
  Node 1035 1 (Eq 25 1034);
  Node 1036 47 (Extract 0 1033);
  Node 1037 48 (Concat 1036 25);
  Node 1038 48 (Ite 1035 1037 1033);
  Node 1039 2 (Concat 1010 1015);
  Node 1040 3 (Concat 1039 1020);
  Node 1041 4 (Concat 1040 1025);
  Node 1042 5 (Concat 1041 1030);
  Node 1043 6 (Concat 1042 1035);
  Node 1044 10 (Zext 999);
  Node 1045 10 (Const 63);
  Node 1046 10 (Add 1044 1045);
  Node 1047 10 (Zext 1043);
  Node 1048 10 (Sub 1046 1047);
  Node 1049 10 (Const 62);
  Node 1050 10 (Add 1044 1049);
  Node 1051 10 (Ite 1000 1050 1048);
  Node 1058 9 (Const 31);
  Node 1059 9 (Const 32);
  Node 1060 10 (Ite 1000 18 1051);
  Node 1063 1 (Ult 1060 18);
  Node 1064 10 (Ite 1063 18 1060);
  Node 1065 10 (Sub 1064 1060);
  Node 1066 51 (Concat 1038 38);
  Node 1067 51 (Lshr 1066 1065);
  Node 1068 51 (Shl 1067 1065);
  Node 1069 1 (Eq 1066 1068);
  Node 1070 1 (Not 1069);
  Node 1071 51 (Zext 1070);
  Node 1072 51 (Or 1067 1071);
  Node 1073 51 (Const 0);
  Node 1074 51 (Lshr 1073 1064);
  Node 1075 51 (Shl 1074 1064);
  Node 1076 1 (Eq 1073 1075);
  Node 1077 1 (Not 1076);
  Node 1078 51 (Zext 1077);
  Node 1079 51 (Or 1074 1078);
  Node 1080 52 (Zext 1072);
  Node 1081 52 (Neg 1080);
  Node 1082 52 (Ite 995 1081 1080);
  Node 1083 52 (Zext 1079);
  Node 1085 53 (Sext 1082);
  Node 1086 53 (Sext 1083);
  Node 1087 53 (Add 1085 1086);
  Node 1088 57 (Sext 1087);
  Node 1094 1 (Extract 56 1088);
  Node 1095 57 (Neg 1088);
  Node 1096 57 (Ite 1094 1095 1088);
  Node 1097 56 (Extract 0 1096);
  Node 1098 57 (Const 0);
  Node 1099 1 (Eq 1088 1098);
  Node 1100 1 (Ite 1099 25 1094);
  Node 1101 10 (Const 185);
  Node 1102 1 (Ult 1064 1101);
  Node 1103 10 (Sub 1101 1064);
  Node 1104 10 (Ite 1102 1103 18);
  Node 1105 10 (Const 56);
  Node 1106 1 (Ult 1104 1105);
  Node 1107 10 (Ite 1106 1104 1105);
  Node 1108 6 (Extract 0 1107);
  Node 1109 56 (Lshr 1097 1108);
  Node 1110 56 (Shl 1109 1108);
  Node 1111 1 (Eq 1097 1110);
  Node 1112 1 (Not 1111);
  Node 1113 56 (Zext 1112);
  Node 1114 56 (Or 1109 1113);
  Node 1115 10 (Ite 1102 1101 1064);
  Node 1116 10 (Sub 1115 1101);
  Node 1117 9 (Extract 0 1116);
  Node 1118 3 (Extract 6 1116);
  Node 1119 1 (Eq 38 1118);
  Node 1120 1 (Not 1119);
  Node 1121 6 (Const 63);
  Node 1122 6 (Extract 0 1116);
  Node 1123 6 (Ite 1120 1121 1122);
  Node 1124 32 (Extract 24 1114);
  Node 1125 1 (Eq 958 1124);
  Node 1126 1 (Extract 5 1123);
  Node 1127 1 (Not 1125);
  Node 1128 1 (And 1126 1127);
  Node 1129 1 (And 1125 1126);
  Node 1130 24 (Extract 0 1114);
  Node 1131 56 (Concat 1130 958);
  Node 1132 56 (Ite 1129 1131 1114);
  Node 1133 16 (Extract 40 1132);
  Node 1134 1 (Eq 31 1133);
  Node 1135 1 (Extract 4 1123);
  Node 1136 1 (Or 1128 1135);
  Node 1137 1 (Not 1134);
  Node 1138 1 (And 1135 1137);
  Node 1139 1 (Or 1128 1138);
  Node 1140 1 (And 1134 1136);
  Node 1141 40 (Extract 0 1132);
  Node 1142 56 (Concat 1141 31);
  Node 1143 56 (Ite 1140 1142 1132);
  Node 1144 8 (Extract 48 1143);
  Node 1145 1 (Eq 36 1144);
  Node 1146 1 (Extract 3 1123);
  Node 1147 1 (Or 1139 1146);
  Node 1148 1 (Not 1145);
  Node 1149 1 (And 1146 1148);
  Node 1150 1 (Or 1139 1149);
  Node 1151 1 (And 1145 1147);
  Node 1152 48 (Extract 0 1143);
  Node 1153 56 (Concat 1152 36);
  Node 1154 56 (Ite 1151 1153 1143);
  Node 1155 4 (Extract 52 1154);
  Node 1156 1 (Eq 64 1155);
  Node 1157 1 (Extract 2 1123);
  Node 1158 1 (Or 1150 1157);
  Node 1159 1 (Not 1156);
  Node 1160 1 (And 1157 1159);
  Node 1161 1 (Or 1150 1160);
  Node 1162 1 (And 1156 1158);
  Node 1163 52 (Extract 0 1154);
  Node 1164 56 (Concat 1163 64);
  Node 1165 56 (Ite 1162 1164 1154);
  Node 1166 2 (Extract 54 1165);
  Node 1167 1 (Eq 76 1166);
  Node 1168 1 (Extract 1 1123);
  Node 1169 1 (Or 1161 1168);
  Node 1170 1 (Not 1167);
  Node 1171 1 (And 1168 1170);
  Node 1172 1 (Or 1161 1171);
  Node 1173 1 (And 1167 1169);
  Node 1174 54 (Extract 0 1165);
  Node 1175 56 (Concat 1174 76);
  Node 1176 56 (Ite 1173 1175 1165);
  Node 1177 1 (Extract 55 1176);
  Node 1178 1 (Eq 25 1177);
  Node 1179 1 (Extract 0 1123);
  Node 1180 1 (Or 1172 1179);
  Node 1184 1 (And 1178 1180);
  Node 1185 55 (Extract 0 1176);
  Node 1186 56 (Concat 1185 25);
  Node 1187 56 (Ite 1184 1186 1176);
  Node 1188 2 (Concat 1129 1140);
  Node 1189 3 (Concat 1188 1151);
  Node 1190 4 (Concat 1189 1162);
  Node 1191 5 (Concat 1190 1173);
  Node 1192 6 (Concat 1191 1184);
  Node 1193 9 (Zext 1192);
  Node 1194 9 (Sub 1117 1193);
  Node 1195 24 (Extract 32 1187);
  Node 1196 1 (Extract 31 1187);
  Node 1197 31 (Extract 0 1187);
  Node 1198 31 (Const 0);
  Node 1199 1 (Eq 1197 1198);
  Node 1200 1 (Not 1199);
  Node 1201 1 (Extract 32 1187);
  Node 1202 1 (Or 1200 1201);
  Node 1203 1 (And 1196 1202);
  Node 1204 25 (Zext 1195);
  Node 1205 25 (Zext 1203);
  Node 1206 25 (Add 1204 1205);
  Node 1207 1 (Extract 24 1206);
  Node 1208 24 (Extract 0 1206);
  Node 1209 24 (Ite 1207 116 1208);
  Node 1210 1 (Eq 119 1209);
  Node 1211 10 (Zext 1194);
  Node 1212 10 (Zext 1207);
  Node 1213 10 (Add 1211 1212);
  Node 1214 1 (Not 1210);
  Node 1215 10 (Const 253);
  Node 1216 1 (Ult 1215 1213);
  Node 1217 1 (And 1214 1216);
  Node 1218 10 (Ite 1210 18 1213);
  Node 1219 8 (Extract 0 1218);
  Node 1220 1 (Not 995);
  Node 1221 1 (And 1008 1220);
  Node 1222 1 (And 995 1008);
  Node 1223 1 (And 1221 1222);
  Node 1224 1 (Or 1005 1223);
  Node 1225 1 (Or 1221 1222);
  Node 1226 1 (Or 1217 1225);
  Node 1227 1 (Not 1224);
  Node 1228 1 (And 1226 1227);
  Node 1229 1 (Ite 1225 1222 1100);
  Node 1230 1 (Or 1224 1225);
  Node 1231 1 (Not 1230);
  Node 1232 1 (And 1210 1231);
  Node 1242 8 (Extract 23 261);
  Node 1243 1 (Extract 31 261);
  Node 1244 1 (Eq 36 1242);
  Node 1245 1 (Not 1244);
  Node 1246 23 (Extract 0 261);
  Node 1247 24 (Concat 1245 1246);
  Node 1248 1 (Eq 960 1246);
  Node 1250 1 (And 1244 1248);
  Node 1251 1 (Eq 962 1242);
  Node 1252 1 (And 1248 1251);
  Node 1253 1 (Not 1248);
  Node 1254 1 (And 1251 1253);
  Node 1255 8 (Zext 1244);
  Node 1256 8 (Or 1242 1255);
  Node 1257 8 (Extract 23 725);
  Node 1258 1 (Extract 31 725);
  Node 1259 1 (Eq 36 1257);
  Node 1260 1 (Not 1259);
  Node 1261 23 (Extract 0 725);
  Node 1262 24 (Concat 1260 1261);
  Node 1263 1 (Eq 960 1261);
  Node 1265 1 (And 1259 1263);
  Node 1266 1 (Eq 962 1257);
  Node 1267 1 (And 1263 1266);
  Node 1268 1 (Not 1263);
  Node 1269 1 (And 1266 1268);
  Node 1270 8 (Zext 1259);
  Node 1271 8 (Or 1257 1270);
  Node 1272 1 (Xor 1243 1258);
  Node 1273 48 (Mul 1247 1262);
  Node 1274 9 (Zext 1256);
  Node 1275 9 (Zext 1271);
  Node 1276 9 (Add 1274 1275);
  Node 1277 1 (Or 1250 1265);
  Node 1278 1 (And 1252 1265);
  Node 1279 1 (And 1250 1267);
  Node 1280 1 (Or 1278 1279);
  Node 1281 1 (Or 1254 1269);
  Node 1282 1 (Or 1280 1281);
  Node 1283 1 (Or 1252 1267);
  Node 1284 1 (Not 1282);
  Node 1285 1 (And 1283 1284);
  Node 1286 32 (Extract 16 1273);
  Node 1287 1 (Eq 958 1286);
  Node 1288 16 (Extract 0 1273);
  Node 1289 48 (Concat 1288 958);
  Node 1290 48 (Ite 1287 1289 1273);
  Node 1291 16 (Extract 32 1290);
  Node 1292 1 (Eq 31 1291);
  Node 1293 32 (Extract 0 1290);
  Node 1294 48 (Concat 1293 31);
  Node 1295 48 (Ite 1292 1294 1290);
  Node 1296 8 (Extract 40 1295);
  Node 1297 1 (Eq 36 1296);
  Node 1298 40 (Extract 0 1295);
  Node 1299 48 (Concat 1298 36);
  Node 1300 48 (Ite 1297 1299 1295);
  Node 1301 4 (Extract 44 1300);
  Node 1302 1 (Eq 64 1301);
  Node 1303 44 (Extract 0 1300);
  Node 1304 48 (Concat 1303 64);
  Node 1305 48 (Ite 1302 1304 1300);
  Node 1306 2 (Extract 46 1305);
  Node 1307 1 (Eq 76 1306);
  Node 1308 46 (Extract 0 1305);
  Node 1309 48 (Concat 1308 76);
  Node 1310 48 (Ite 1307 1309 1305);
  Node 1311 1 (Extract 47 1310);
  Node 1312 1 (Eq 25 1311);
  Node 1313 47 (Extract 0 1310);
  Node 1314 48 (Concat 1313 25);
  Node 1315 48 (Ite 1312 1314 1310);
  Node 1316 2 (Concat 1287 1292);
  Node 1317 3 (Concat 1316 1297);
  Node 1318 4 (Concat 1317 1302);
  Node 1319 5 (Concat 1318 1307);
  Node 1320 6 (Concat 1319 1312);
  Node 1321 10 (Zext 1276);
  Node 1322 10 (Add 1045 1321);
  Node 1323 10 (Zext 1320);
  Node 1324 10 (Sub 1322 1323);
  Node 1325 10 (Add 1049 1321);
  Node 1326 10 (Ite 1277 1325 1324);
  Node 1327 16 (Extract 8 1209);
  Node 1328 1 (Eq 31 1327);
  Node 1329 8 (Extract 0 1209);
  Node 1330 24 (Concat 1329 31);
  Node 1331 24 (Ite 1328 1330 1209);
  Node 1332 8 (Extract 16 1331);
  Node 1333 1 (Eq 36 1332);
  Node 1334 16 (Extract 0 1331);
  Node 1335 24 (Concat 1334 36);
  Node 1336 24 (Ite 1333 1335 1331);
  Node 1337 4 (Extract 20 1336);
  Node 1338 1 (Eq 64 1337);
  Node 1339 20 (Extract 0 1336);
  Node 1340 24 (Concat 1339 64);
  Node 1341 24 (Ite 1338 1340 1336);
  Node 1342 2 (Extract 22 1341);
  Node 1343 1 (Eq 76 1342);
  Node 1344 22 (Extract 0 1341);
  Node 1345 24 (Concat 1344 76);
  Node 1346 24 (Ite 1343 1345 1341);
  Node 1347 1 (Extract 23 1346);
  Node 1348 1 (Eq 25 1347);
  Node 1349 23 (Extract 0 1346);
  Node 1350 24 (Concat 1349 25);
  Node 1351 24 (Ite 1348 1350 1346);
  Node 1352 2 (Concat 1328 1333);
  Node 1353 3 (Concat 1352 1338);
  Node 1354 4 (Concat 1353 1343);
  Node 1355 5 (Concat 1354 1348);
  Node 1356 9 (Zext 1219);
  Node 1357 9 (Add 1058 1356);
  Node 1358 9 (Zext 1355);
  Node 1359 9 (Sub 1357 1358);
  Node 1360 9 (Ite 1232 1357 1359);
  Node 1361 10 (Ite 1277 18 1326);
  Node 1362 9 (Const 159);
  Node 1363 9 (Add 1360 1362);
  Node 1364 9 (Ite 1232 128 1363);
  Node 1365 10 (Zext 1364);
  Node 1366 1 (Ult 1361 1365);
  Node 1367 10 (Ite 1366 1365 1361);
  Node 1368 10 (Sub 1367 1361);
  Node 1369 51 (Concat 1315 38);
  Node 1370 51 (Lshr 1369 1368);
  Node 1371 51 (Shl 1370 1368);
  Node 1372 1 (Eq 1369 1371);
  Node 1373 1 (Not 1372);
  Node 1374 51 (Zext 1373);
  Node 1375 51 (Or 1370 1374);
  Node 1376 10 (Sub 1367 1365);
  Node 1377 51 (Concat 1351 50);
  Node 1378 51 (Lshr 1377 1376);
  Node 1379 51 (Shl 1378 1376);
  Node 1380 1 (Eq 1377 1379);
  Node 1381 1 (Not 1380);
  Node 1382 51 (Zext 1381);
  Node 1383 51 (Or 1378 1382);
  Node 1384 52 (Zext 1375);
  Node 1385 52 (Neg 1384);
  Node 1386 52 (Ite 1272 1385 1384);
  Node 1387 52 (Zext 1383);
  Node 1388 52 (Neg 1387);
  Node 1389 52 (Ite 1229 1388 1387);
  Node 1390 53 (Sext 1386);
  Node 1391 53 (Sext 1389);
  Node 1392 53 (Add 1390 1391);
  Node 1393 57 (Sext 1392);
  Node 1399 1 (Extract 56 1393);
  Node 1400 57 (Neg 1393);
  Node 1401 57 (Ite 1399 1400 1393);
  Node 1402 56 (Extract 0 1401);
  Node 1403 1 (And 1229 1272);
  Node 1404 1 (Eq 1098 1393);
  Node 1405 1 (Ite 1404 1403 1399);
  Node 1406 1 (Ult 1367 1101);
  Node 1407 10 (Sub 1101 1367);
  Node 1408 10 (Ite 1406 1407 18);
  Node 1409 1 (Ult 1408 1105);
  Node 1410 10 (Ite 1409 1408 1105);
  Node 1411 6 (Extract 0 1410);
  Node 1412 56 (Lshr 1402 1411);
  Node 1413 56 (Shl 1412 1411);
  Node 1414 1 (Eq 1402 1413);
  Node 1415 1 (Not 1414);
  Node 1416 56 (Zext 1415);
  Node 1417 56 (Or 1412 1416);
  Node 1418 10 (Ite 1406 1101 1367);
  Node 1419 10 (Sub 1418 1101);
  Node 1420 9 (Extract 0 1419);
  Node 1421 3 (Extract 6 1419);
  Node 1422 1 (Eq 38 1421);
  Node 1423 1 (Not 1422);
  Node 1424 6 (Extract 0 1419);
  Node 1425 6 (Ite 1423 1121 1424);
  Node 1426 32 (Extract 24 1417);
  Node 1427 1 (Eq 958 1426);
  Node 1428 1 (Extract 5 1425);
  Node 1429 1 (Not 1427);
  Node 1430 1 (And 1428 1429);
  Node 1431 1 (And 1427 1428);
  Node 1432 24 (Extract 0 1417);
  Node 1433 56 (Concat 1432 958);
  Node 1434 56 (Ite 1431 1433 1417);
  Node 1435 16 (Extract 40 1434);
  Node 1436 1 (Eq 31 1435);
  Node 1437 1 (Extract 4 1425);
  Node 1438 1 (Or 1430 1437);
  Node 1439 1 (Not 1436);
  Node 1440 1 (And 1437 1439);
  Node 1441 1 (Or 1430 1440);
  Node 1442 1 (And 1436 1438);
  Node 1443 40 (Extract 0 1434);
  Node 1444 56 (Concat 1443 31);
  Node 1445 56 (Ite 1442 1444 1434);
  Node 1446 8 (Extract 48 1445);
  Node 1447 1 (Eq 36 1446);
  Node 1448 1 (Extract 3 1425);
  Node 1449 1 (Or 1441 1448);
  Node 1450 1 (Not 1447);
  Node 1451 1 (And 1448 1450);
  Node 1452 1 (Or 1441 1451);
  Node 1453 1 (And 1447 1449);
  Node 1454 48 (Extract 0 1445);
  Node 1455 56 (Concat 1454 36);
  Node 1456 56 (Ite 1453 1455 1445);
  Node 1457 4 (Extract 52 1456);
  Node 1458 1 (Eq 64 1457);
  Node 1459 1 (Extract 2 1425);
  Node 1460 1 (Or 1452 1459);
  Node 1461 1 (Not 1458);
  Node 1462 1 (And 1459 1461);
  Node 1463 1 (Or 1452 1462);
  Node 1464 1 (And 1458 1460);
  Node 1465 52 (Extract 0 1456);
  Node 1466 56 (Concat 1465 64);
  Node 1467 56 (Ite 1464 1466 1456);
  Node 1468 2 (Extract 54 1467);
  Node 1469 1 (Eq 76 1468);
  Node 1470 1 (Extract 1 1425);
  Node 1471 1 (Or 1463 1470);
  Node 1472 1 (Not 1469);
  Node 1473 1 (And 1470 1472);
  Node 1474 1 (Or 1463 1473);
  Node 1475 1 (And 1469 1471);
  Node 1476 54 (Extract 0 1467);
  Node 1477 56 (Concat 1476 76);
  Node 1478 56 (Ite 1475 1477 1467);
  Node 1479 1 (Extract 55 1478);
  Node 1480 1 (Eq 25 1479);
  Node 1481 1 (Extract 0 1425);
  Node 1482 1 (Or 1474 1481);
  Node 1486 1 (And 1480 1482);
  Node 1487 55 (Extract 0 1478);
  Node 1488 56 (Concat 1487 25);
  Node 1489 56 (Ite 1486 1488 1478);
  Node 1490 2 (Concat 1431 1442);
  Node 1491 3 (Concat 1490 1453);
  Node 1492 4 (Concat 1491 1464);
  Node 1493 5 (Concat 1492 1475);
  Node 1494 6 (Concat 1493 1486);
  Node 1495 9 (Zext 1494);
  Node 1496 9 (Sub 1420 1495);
  Node 1497 24 (Extract 32 1489);
  Node 1498 1 (Extract 31 1489);
  Node 1499 31 (Extract 0 1489);
  Node 1500 1 (Eq 1198 1499);
  Node 1501 1 (Not 1500);
  Node 1502 1 (Extract 32 1489);
  Node 1503 1 (Or 1501 1502);
  Node 1504 1 (And 1498 1503);
  Node 1505 25 (Zext 1497);
  Node 1506 25 (Zext 1504);
  Node 1507 25 (Add 1505 1506);
  Node 1508 1 (Extract 24 1507);
  Node 1509 24 (Extract 0 1507);
  Node 1510 24 (Ite 1508 116 1509);
  Node 1511 1 (Eq 119 1510);
  Node 1512 10 (Zext 1496);
  Node 1513 10 (Zext 1508);
  Node 1514 10 (Add 1512 1513);
  Node 1515 1 (Not 1511);
  Node 1516 1 (Ult 1215 1514);
  Node 1517 1 (And 1515 1516);
  Node 1518 10 (Ite 1511 18 1514);
  Node 1519 8 (Extract 0 1518);
  Node 1520 1 (Not 1272);
  Node 1521 1 (And 1285 1520);
  Node 1522 1 (Not 1229);
  Node 1523 1 (And 1228 1522);
  Node 1524 1 (Or 1521 1523);
  Node 1525 1 (And 1272 1285);
  Node 1526 1 (And 1228 1229);
  Node 1527 1 (Or 1525 1526);
  Node 1528 1 (Or 1224 1282);
  Node 1529 1 (And 1524 1527);
  Node 1530 1 (Or 1528 1529);
  Node 1531 1 (Or 1524 1527);
  Node 1532 1 (Or 1517 1531);
  Node 1533 1 (Not 1530);
  Node 1534 1 (And 1532 1533);
  Node 1535 1 (Ite 1531 1527 1405);
  Node 1536 1 (Or 1530 1531);
  Node 1537 1 (Not 1536);
  Node 1538 1 (And 1511 1537);
  Node 1548 8 (Extract 23 377);
  Node 1549 1 (Extract 31 377);
  Node 1550 1 (Eq 36 1548);
  Node 1551 1 (Not 1550);
  Node 1552 23 (Extract 0 377);
  Node 1553 24 (Concat 1551 1552);
  Node 1554 1 (Eq 960 1552);
  Node 1556 1 (And 1550 1554);
  Node 1557 1 (Eq 962 1548);
  Node 1558 1 (And 1554 1557);
  Node 1559 1 (Not 1554);
  Node 1560 1 (And 1557 1559);
  Node 1561 8 (Zext 1550);
  Node 1562 8 (Or 1548 1561);
  Node 1563 8 (Extract 23 841);
  Node 1564 1 (Extract 31 841);
  Node 1565 1 (Eq 36 1563);
  Node 1566 1 (Not 1565);
  Node 1567 23 (Extract 0 841);
  Node 1568 24 (Concat 1566 1567);
  Node 1569 1 (Eq 960 1567);
  Node 1571 1 (And 1565 1569);
  Node 1572 1 (Eq 962 1563);
  Node 1573 1 (And 1569 1572);
  Node 1574 1 (Not 1569);
  Node 1575 1 (And 1572 1574);
  Node 1576 8 (Zext 1565);
  Node 1577 8 (Or 1563 1576);
  Node 1578 1 (Xor 1549 1564);
  Node 1579 48 (Mul 1553 1568);
  Node 1580 9 (Zext 1562);
  Node 1581 9 (Zext 1577);
  Node 1582 9 (Add 1580 1581);
  Node 1583 1 (Or 1556 1571);
  Node 1584 1 (And 1558 1571);
  Node 1585 1 (And 1556 1573);
  Node 1586 1 (Or 1584 1585);
  Node 1587 1 (Or 1560 1575);
  Node 1588 1 (Or 1586 1587);
  Node 1589 1 (Or 1558 1573);
  Node 1590 1 (Not 1588);
  Node 1591 1 (And 1589 1590);
  Node 1592 32 (Extract 16 1579);
  Node 1593 1 (Eq 958 1592);
  Node 1594 16 (Extract 0 1579);
  Node 1595 48 (Concat 1594 958);
  Node 1596 48 (Ite 1593 1595 1579);
  Node 1597 16 (Extract 32 1596);
  Node 1598 1 (Eq 31 1597);
  Node 1599 32 (Extract 0 1596);
  Node 1600 48 (Concat 1599 31);
  Node 1601 48 (Ite 1598 1600 1596);
  Node 1602 8 (Extract 40 1601);
  Node 1603 1 (Eq 36 1602);
  Node 1604 40 (Extract 0 1601);
  Node 1605 48 (Concat 1604 36);
  Node 1606 48 (Ite 1603 1605 1601);
  Node 1607 4 (Extract 44 1606);
  Node 1608 1 (Eq 64 1607);
  Node 1609 44 (Extract 0 1606);
  Node 1610 48 (Concat 1609 64);
  Node 1611 48 (Ite 1608 1610 1606);
  Node 1612 2 (Extract 46 1611);
  Node 1613 1 (Eq 76 1612);
  Node 1614 46 (Extract 0 1611);
  Node 1615 48 (Concat 1614 76);
  Node 1616 48 (Ite 1613 1615 1611);
  Node 1617 1 (Extract 47 1616);
  Node 1618 1 (Eq 25 1617);
  Node 1619 47 (Extract 0 1616);
  Node 1620 48 (Concat 1619 25);
  Node 1621 48 (Ite 1618 1620 1616);
  Node 1622 2 (Concat 1593 1598);
  Node 1623 3 (Concat 1622 1603);
  Node 1624 4 (Concat 1623 1608);
  Node 1625 5 (Concat 1624 1613);
  Node 1626 6 (Concat 1625 1618);
  Node 1627 10 (Zext 1582);
  Node 1628 10 (Add 1045 1627);
  Node 1629 10 (Zext 1626);
  Node 1630 10 (Sub 1628 1629);
  Node 1631 10 (Add 1049 1627);
  Node 1632 10 (Ite 1583 1631 1630);
  Node 1633 16 (Extract 8 1510);
  Node 1634 1 (Eq 31 1633);
  Node 1635 8 (Extract 0 1510);
  Node 1636 24 (Concat 1635 31);
  Node 1637 24 (Ite 1634 1636 1510);
  Node 1638 8 (Extract 16 1637);
  Node 1639 1 (Eq 36 1638);
  Node 1640 16 (Extract 0 1637);
  Node 1641 24 (Concat 1640 36);
  Node 1642 24 (Ite 1639 1641 1637);
  Node 1643 4 (Extract 20 1642);
  Node 1644 1 (Eq 64 1643);
  Node 1645 20 (Extract 0 1642);
  Node 1646 24 (Concat 1645 64);
  Node 1647 24 (Ite 1644 1646 1642);
  Node 1648 2 (Extract 22 1647);
  Node 1649 1 (Eq 76 1648);
  Node 1650 22 (Extract 0 1647);
  Node 1651 24 (Concat 1650 76);
  Node 1652 24 (Ite 1649 1651 1647);
  Node 1653 1 (Extract 23 1652);
  Node 1654 1 (Eq 25 1653);
  Node 1655 23 (Extract 0 1652);
  Node 1656 24 (Concat 1655 25);
  Node 1657 24 (Ite 1654 1656 1652);
  Node 1658 2 (Concat 1634 1639);
  Node 1659 3 (Concat 1658 1644);
  Node 1660 4 (Concat 1659 1649);
  Node 1661 5 (Concat 1660 1654);
  Node 1662 9 (Zext 1519);
  Node 1663 9 (Add 1058 1662);
  Node 1664 9 (Zext 1661);
  Node 1665 9 (Sub 1663 1664);
  Node 1666 9 (Ite 1538 1663 1665);
  Node 1667 10 (Ite 1583 18 1632);
  Node 1668 9 (Add 1362 1666);
  Node 1669 9 (Ite 1538 128 1668);
  Node 1670 10 (Zext 1669);
  Node 1671 1 (Ult 1667 1670);
  Node 1672 10 (Ite 1671 1670 1667);
  Node 1673 10 (Sub 1672 1667);
  Node 1674 51 (Concat 1621 38);
  Node 1675 51 (Lshr 1674 1673);
  Node 1676 51 (Shl 1675 1673);
  Node 1677 1 (Eq 1674 1676);
  Node 1678 1 (Not 1677);
  Node 1679 51 (Zext 1678);
  Node 1680 51 (Or 1675 1679);
  Node 1681 10 (Sub 1672 1670);
  Node 1682 51 (Concat 1657 50);
  Node 1683 51 (Lshr 1682 1681);
  Node 1684 51 (Shl 1683 1681);
  Node 1685 1 (Eq 1682 1684);
  Node 1686 1 (Not 1685);
  Node 1687 51 (Zext 1686);
  Node 1688 51 (Or 1683 1687);
  Node 1689 52 (Zext 1680);
  Node 1690 52 (Neg 1689);
  Node 1691 52 (Ite 1578 1690 1689);
  Node 1692 52 (Zext 1688);
  Node 1693 52 (Neg 1692);
  Node 1694 52 (Ite 1535 1693 1692);
  Node 1695 53 (Sext 1691);
  Node 1696 53 (Sext 1694);
  Node 1697 53 (Add 1695 1696);
  Node 1698 57 (Sext 1697);
  Node 1703 1 (Extract 56 1698);
  Node 1704 57 (Neg 1698);
  Node 1705 57 (Ite 1703 1704 1698);
  Node 1706 56 (Extract 0 1705);
  Node 1707 1 (And 1535 1578);
  Node 1708 1 (Eq 1098 1698);
  Node 1709 1 (Ite 1708 1707 1703);
  Node 1710 1 (Ult 1672 1101);
  Node 1711 10 (Sub 1101 1672);
  Node 1712 10 (Ite 1710 1711 18);
  Node 1713 1 (Ult 1712 1105);
  Node 1714 10 (Ite 1713 1712 1105);
  Node 1715 6 (Extract 0 1714);
  Node 1716 56 (Lshr 1706 1715);
  Node 1717 56 (Shl 1716 1715);
  Node 1718 1 (Eq 1706 1717);
  Node 1719 1 (Not 1718);
  Node 1720 56 (Zext 1719);
  Node 1721 56 (Or 1716 1720);
  Node 1722 10 (Ite 1710 1101 1672);
  Node 1723 10 (Sub 1722 1101);
  Node 1724 9 (Extract 0 1723);
  Node 1725 3 (Extract 6 1723);
  Node 1726 1 (Eq 38 1725);
  Node 1727 1 (Not 1726);
  Node 1728 6 (Extract 0 1723);
  Node 1729 6 (Ite 1727 1121 1728);
  Node 1730 32 (Extract 24 1721);
  Node 1731 1 (Eq 958 1730);
  Node 1732 1 (Extract 5 1729);
  Node 1733 1 (Not 1731);
  Node 1734 1 (And 1732 1733);
  Node 1735 1 (And 1731 1732);
  Node 1736 24 (Extract 0 1721);
  Node 1737 56 (Concat 1736 958);
  Node 1738 56 (Ite 1735 1737 1721);
  Node 1739 16 (Extract 40 1738);
  Node 1740 1 (Eq 31 1739);
  Node 1741 1 (Extract 4 1729);
  Node 1742 1 (Or 1734 1741);
  Node 1743 1 (Not 1740);
  Node 1744 1 (And 1741 1743);
  Node 1745 1 (Or 1734 1744);
  Node 1746 1 (And 1740 1742);
  Node 1747 40 (Extract 0 1738);
  Node 1748 56 (Concat 1747 31);
  Node 1749 56 (Ite 1746 1748 1738);
  Node 1750 8 (Extract 48 1749);
  Node 1751 1 (Eq 36 1750);
  Node 1752 1 (Extract 3 1729);
  Node 1753 1 (Or 1745 1752);
  Node 1754 1 (Not 1751);
  Node 1755 1 (And 1752 1754);
  Node 1756 1 (Or 1745 1755);
  Node 1757 1 (And 1751 1753);
  Node 1758 48 (Extract 0 1749);
  Node 1759 56 (Concat 1758 36);
  Node 1760 56 (Ite 1757 1759 1749);
  Node 1761 4 (Extract 52 1760);
  Node 1762 1 (Eq 64 1761);
  Node 1763 1 (Extract 2 1729);
  Node 1764 1 (Or 1756 1763);
  Node 1765 1 (Not 1762);
  Node 1766 1 (And 1763 1765);
  Node 1767 1 (Or 1756 1766);
  Node 1768 1 (And 1762 1764);
  Node 1769 52 (Extract 0 1760);
  Node 1770 56 (Concat 1769 64);
  Node 1771 56 (Ite 1768 1770 1760);
  Node 1772 2 (Extract 54 1771);
  Node 1773 1 (Eq 76 1772);
  Node 1774 1 (Extract 1 1729);
  Node 1775 1 (Or 1767 1774);
  Node 1776 1 (Not 1773);
  Node 1777 1 (And 1774 1776);
  Node 1778 1 (Or 1767 1777);
  Node 1779 1 (And 1773 1775);
  Node 1780 54 (Extract 0 1771);
  Node 1781 56 (Concat 1780 76);
  Node 1782 56 (Ite 1779 1781 1771);
  Node 1783 1 (Extract 55 1782);
  Node 1784 1 (Eq 25 1783);
  Node 1785 1 (Extract 0 1729);
  Node 1786 1 (Or 1778 1785);
  Node 1790 1 (And 1784 1786);
  Node 1791 55 (Extract 0 1782);
  Node 1792 56 (Concat 1791 25);
  Node 1793 56 (Ite 1790 1792 1782);
  Node 1794 2 (Concat 1735 1746);
  Node 1795 3 (Concat 1794 1757);
  Node 1796 4 (Concat 1795 1768);
  Node 1797 5 (Concat 1796 1779);
  Node 1798 6 (Concat 1797 1790);
  Node 1799 9 (Zext 1798);
  Node 1800 9 (Sub 1724 1799);
  Node 1801 24 (Extract 32 1793);
  Node 1802 1 (Extract 31 1793);
  Node 1803 31 (Extract 0 1793);
  Node 1804 1 (Eq 1198 1803);
  Node 1805 1 (Not 1804);
  Node 1806 1 (Extract 32 1793);
  Node 1807 1 (Or 1805 1806);
  Node 1808 1 (And 1802 1807);
  Node 1809 25 (Zext 1801);
  Node 1810 25 (Zext 1808);
  Node 1811 25 (Add 1809 1810);
  Node 1812 1 (Extract 24 1811);
  Node 1813 24 (Extract 0 1811);
  Node 1814 24 (Ite 1812 116 1813);
  Node 1815 1 (Eq 119 1814);
  Node 1816 10 (Zext 1800);
  Node 1817 10 (Zext 1812);
  Node 1818 10 (Add 1816 1817);
  Node 1819 1 (Not 1815);
  Node 1820 1 (Ult 1215 1818);
  Node 1821 1 (And 1819 1820);
  Node 1822 10 (Ite 1815 18 1818);
  Node 1823 8 (Extract 0 1822);
  Node 1824 1 (Not 1578);
  Node 1825 1 (And 1591 1824);
  Node 1826 1 (Not 1535);
  Node 1827 1 (And 1534 1826);
  Node 1828 1 (Or 1825 1827);
  Node 1829 1 (And 1578 1591);
  Node 1830 1 (And 1534 1535);
  Node 1831 1 (Or 1829 1830);
  Node 1832 1 (Or 1530 1588);
  Node 1833 1 (And 1828 1831);
  Node 1834 1 (Or 1832 1833);
  Node 1835 1 (Or 1828 1831);
  Node 1836 1 (Or 1821 1835);
  Node 1837 1 (Not 1834);
  Node 1838 1 (And 1836 1837);
  Node 1839 1 (Ite 1835 1831 1709);
  Node 1840 1 (Or 1834 1835);
  Node 1841 1 (Not 1840);
  Node 1842 1 (And 1815 1841);
  Node 1852 8 (Extract 23 493);
  Node 1853 1 (Extract 31 493);
  Node 1854 1 (Eq 36 1852);
  Node 1855 1 (Not 1854);
  Node 1856 23 (Extract 0 493);
  Node 1857 24 (Concat 1855 1856);
  Node 1858 1 (Eq 960 1856);
  Node 1860 1 (And 1854 1858);
  Node 1861 1 (Eq 962 1852);
  Node 1862 1 (And 1858 1861);
  Node 1863 1 (Not 1858);
  Node 1864 1 (And 1861 1863);
  Node 1865 8 (Zext 1854);
  Node 1866 8 (Or 1852 1865);
  Node 1867 8 (Extract 23 957);
  Node 1868 1 (Extract 31 957);
  Node 1869 1 (Eq 36 1867);
  Node 1870 1 (Not 1869);
  Node 1871 23 (Extract 0 957);
  Node 1872 24 (Concat 1870 1871);
  Node 1873 1 (Eq 960 1871);
  Node 1875 1 (And 1869 1873);
  Node 1876 1 (Eq 962 1867);
  Node 1877 1 (And 1873 1876);
  Node 1878 1 (Not 1873);
  Node 1879 1 (And 1876 1878);
  Node 1880 8 (Zext 1869);
  Node 1881 8 (Or 1867 1880);
  Node 1882 1 (Xor 1853 1868);
  Node 1883 48 (Mul 1857 1872);
  Node 1884 9 (Zext 1866);
  Node 1885 9 (Zext 1881);
  Node 1886 9 (Add 1884 1885);
  Node 1887 1 (Or 1860 1875);
  Node 1888 1 (And 1862 1875);
  Node 1889 1 (And 1860 1877);
  Node 1890 1 (Or 1888 1889);
  Node 1891 1 (Or 1864 1879);
  Node 1892 1 (Or 1890 1891);
  Node 1893 1 (Or 1862 1877);
  Node 1894 1 (Not 1892);
  Node 1895 1 (And 1893 1894);
  Node 1896 32 (Extract 16 1883);
  Node 1897 1 (Eq 958 1896);
  Node 1898 16 (Extract 0 1883);
  Node 1899 48 (Concat 1898 958);
  Node 1900 48 (Ite 1897 1899 1883);
  Node 1901 16 (Extract 32 1900);
  Node 1902 1 (Eq 31 1901);
  Node 1903 32 (Extract 0 1900);
  Node 1904 48 (Concat 1903 31);
  Node 1905 48 (Ite 1902 1904 1900);
  Node 1906 8 (Extract 40 1905);
  Node 1907 1 (Eq 36 1906);
  Node 1908 40 (Extract 0 1905);
  Node 1909 48 (Concat 1908 36);
  Node 1910 48 (Ite 1907 1909 1905);
  Node 1911 4 (Extract 44 1910);
  Node 1912 1 (Eq 64 1911);
  Node 1913 44 (Extract 0 1910);
  Node 1914 48 (Concat 1913 64);
  Node 1915 48 (Ite 1912 1914 1910);
  Node 1916 2 (Extract 46 1915);
  Node 1917 1 (Eq 76 1916);
  Node 1918 46 (Extract 0 1915);
  Node 1919 48 (Concat 1918 76);
  Node 1920 48 (Ite 1917 1919 1915);
  Node 1921 1 (Extract 47 1920);
  Node 1922 1 (Eq 25 1921);
  Node 1923 47 (Extract 0 1920);
  Node 1924 48 (Concat 1923 25);
  Node 1925 48 (Ite 1922 1924 1920);
  Node 1926 2 (Concat 1897 1902);
  Node 1927 3 (Concat 1926 1907);
  Node 1928 4 (Concat 1927 1912);
  Node 1929 5 (Concat 1928 1917);
  Node 1930 6 (Concat 1929 1922);
  Node 1931 10 (Zext 1886);
  Node 1932 10 (Add 1045 1931);
  Node 1933 10 (Zext 1930);
  Node 1934 10 (Sub 1932 1933);
  Node 1935 10 (Add 1049 1931);
  Node 1936 10 (Ite 1887 1935 1934);
  Node 1937 16 (Extract 8 1814);
  Node 1938 1 (Eq 31 1937);
  Node 1939 8 (Extract 0 1814);
  Node 1940 24 (Concat 1939 31);
  Node 1941 24 (Ite 1938 1940 1814);
  Node 1942 8 (Extract 16 1941);
  Node 1943 1 (Eq 36 1942);
  Node 1944 16 (Extract 0 1941);
  Node 1945 24 (Concat 1944 36);
  Node 1946 24 (Ite 1943 1945 1941);
  Node 1947 4 (Extract 20 1946);
  Node 1948 1 (Eq 64 1947);
  Node 1949 20 (Extract 0 1946);
  Node 1950 24 (Concat 1949 64);
  Node 1951 24 (Ite 1948 1950 1946);
  Node 1952 2 (Extract 22 1951);
  Node 1953 1 (Eq 76 1952);
  Node 1954 22 (Extract 0 1951);
  Node 1955 24 (Concat 1954 76);
  Node 1956 24 (Ite 1953 1955 1951);
  Node 1957 1 (Extract 23 1956);
  Node 1958 1 (Eq 25 1957);
  Node 1959 23 (Extract 0 1956);
  Node 1960 24 (Concat 1959 25);
  Node 1961 24 (Ite 1958 1960 1956);
  Node 1962 2 (Concat 1938 1943);
  Node 1963 3 (Concat 1962 1948);
  Node 1964 4 (Concat 1963 1953);
  Node 1965 5 (Concat 1964 1958);
  Node 1966 9 (Zext 1823);
  Node 1967 9 (Add 1058 1966);
  Node 1968 9 (Zext 1965);
  Node 1969 9 (Sub 1967 1968);
  Node 1970 9 (Ite 1842 1967 1969);
  Node 1971 10 (Ite 1887 18 1936);
  Node 1972 9 (Add 1362 1970);
  Node 1973 9 (Ite 1842 128 1972);
  Node 1974 10 (Zext 1973);
  Node 1975 1 (Ult 1971 1974);
  Node 1976 10 (Ite 1975 1974 1971);
  Node 1977 10 (Sub 1976 1971);
  Node 1978 51 (Concat 1925 38);
  Node 1979 51 (Lshr 1978 1977);
  Node 1980 51 (Shl 1979 1977);
  Node 1981 1 (Eq 1978 1980);
  Node 1982 1 (Not 1981);
  Node 1983 51 (Zext 1982);
  Node 1984 51 (Or 1979 1983);
  Node 1985 10 (Sub 1976 1974);
  Node 1986 51 (Concat 1961 50);
  Node 1987 51 (Lshr 1986 1985);
  Node 1988 51 (Shl 1987 1985);
  Node 1989 1 (Eq 1986 1988);
  Node 1990 1 (Not 1989);
  Node 1991 51 (Zext 1990);
  Node 1992 51 (Or 1987 1991);
  Node 1993 52 (Zext 1984);
  Node 1994 52 (Neg 1993);
  Node 1995 52 (Ite 1882 1994 1993);
  Node 1996 52 (Zext 1992);
  Node 1997 52 (Neg 1996);
  Node 1998 52 (Ite 1839 1997 1996);
  Node 1999 53 (Sext 1995);
  Node 2000 53 (Sext 1998);
  Node 2001 53 (Add 1999 2000);
  Node 2002 57 (Sext 2001);
  Node 2007 1 (Extract 56 2002);
  Node 2008 57 (Neg 2002);
  Node 2009 57 (Ite 2007 2008 2002);
  Node 2010 56 (Extract 0 2009);
  Node 2011 1 (And 1839 1882);
  Node 2012 1 (Eq 1098 2002);
  Node 2013 1 (Ite 2012 2011 2007);
  Node 2014 1 (Ult 1976 1101);
  Node 2015 10 (Sub 1101 1976);
  Node 2016 10 (Ite 2014 2015 18);
  Node 2017 1 (Ult 2016 1105);
  Node 2018 10 (Ite 2017 2016 1105);
  Node 2019 6 (Extract 0 2018);
  Node 2020 56 (Lshr 2010 2019);
  Node 2021 56 (Shl 2020 2019);
  Node 2022 1 (Eq 2010 2021);
  Node 2023 1 (Not 2022);
  Node 2024 56 (Zext 2023);
  Node 2025 56 (Or 2020 2024);
  Node 2026 10 (Ite 2014 1101 1976);
  Node 2027 10 (Sub 2026 1101);
  Node 2028 9 (Extract 0 2027);
  Node 2029 3 (Extract 6 2027);
  Node 2030 1 (Eq 38 2029);
  Node 2031 1 (Not 2030);
  Node 2032 6 (Extract 0 2027);
  Node 2033 6 (Ite 2031 1121 2032);
  Node 2034 32 (Extract 24 2025);
  Node 2035 1 (Eq 958 2034);
  Node 2036 1 (Extract 5 2033);
  Node 2037 1 (Not 2035);
  Node 2038 1 (And 2036 2037);
  Node 2039 1 (And 2035 2036);
  Node 2040 24 (Extract 0 2025);
  Node 2041 56 (Concat 2040 958);
  Node 2042 56 (Ite 2039 2041 2025);
  Node 2043 16 (Extract 40 2042);
  Node 2044 1 (Eq 31 2043);
  Node 2045 1 (Extract 4 2033);
  Node 2046 1 (Or 2038 2045);
  Node 2047 1 (Not 2044);
  Node 2048 1 (And 2045 2047);
  Node 2049 1 (Or 2038 2048);
  Node 2050 1 (And 2044 2046);
  Node 2051 40 (Extract 0 2042);
  Node 2052 56 (Concat 2051 31);
  Node 2053 56 (Ite 2050 2052 2042);
  Node 2054 8 (Extract 48 2053);
  Node 2055 1 (Eq 36 2054);
  Node 2056 1 (Extract 3 2033);
  Node 2057 1 (Or 2049 2056);
  Node 2058 1 (Not 2055);
  Node 2059 1 (And 2056 2058);
  Node 2060 1 (Or 2049 2059);
  Node 2061 1 (And 2055 2057);
  Node 2062 48 (Extract 0 2053);
  Node 2063 56 (Concat 2062 36);
  Node 2064 56 (Ite 2061 2063 2053);
  Node 2065 4 (Extract 52 2064);
  Node 2066 1 (Eq 64 2065);
  Node 2067 1 (Extract 2 2033);
  Node 2068 1 (Or 2060 2067);
  Node 2069 1 (Not 2066);
  Node 2070 1 (And 2067 2069);
  Node 2071 1 (Or 2060 2070);
  Node 2072 1 (And 2066 2068);
  Node 2073 52 (Extract 0 2064);
  Node 2074 56 (Concat 2073 64);
  Node 2075 56 (Ite 2072 2074 2064);
  Node 2076 2 (Extract 54 2075);
  Node 2077 1 (Eq 76 2076);
  Node 2078 1 (Extract 1 2033);
  Node 2079 1 (Or 2071 2078);
  Node 2080 1 (Not 2077);
  Node 2081 1 (And 2078 2080);
  Node 2082 1 (Or 2071 2081);
  Node 2083 1 (And 2077 2079);
  Node 2084 54 (Extract 0 2075);
  Node 2085 56 (Concat 2084 76);
  Node 2086 56 (Ite 2083 2085 2075);
  Node 2087 1 (Extract 55 2086);
  Node 2088 1 (Eq 25 2087);
  Node 2089 1 (Extract 0 2033);
  Node 2090 1 (Or 2082 2089);
  Node 2094 1 (And 2088 2090);
  Node 2095 55 (Extract 0 2086);
  Node 2096 56 (Concat 2095 25);
  Node 2097 56 (Ite 2094 2096 2086);
  Node 2098 2 (Concat 2039 2050);
  Node 2099 3 (Concat 2098 2061);
  Node 2100 4 (Concat 2099 2072);
  Node 2101 5 (Concat 2100 2083);
  Node 2102 6 (Concat 2101 2094);
  Node 2103 9 (Zext 2102);
  Node 2104 9 (Sub 2028 2103);
  Node 2105 24 (Extract 32 2097);
  Node 2106 1 (Extract 31 2097);
  Node 2107 31 (Extract 0 2097);
  Node 2108 1 (Eq 1198 2107);
  Node 2109 1 (Not 2108);
  Node 2110 1 (Extract 32 2097);
  Node 2111 1 (Or 2109 2110);
  Node 2112 1 (And 2106 2111);
  Node 2113 25 (Zext 2105);
  Node 2114 25 (Zext 2112);
  Node 2115 25 (Add 2113 2114);
  Node 2116 1 (Extract 24 2115);
  Node 2117 24 (Extract 0 2115);
  Node 2118 24 (Ite 2116 116 2117);
  Node 2119 1 (Eq 119 2118);
  Node 2120 10 (Zext 2104);
  Node 2121 10 (Zext 2116);
  Node 2122 10 (Add 2120 2121);
  Node 2123 1 (Not 2119);
  Node 2124 1 (Ult 1215 2122);
  Node 2125 1 (And 2123 2124);
  Node 2126 10 (Ite 2119 18 2122);
  Node 2127 8 (Extract 0 2126);
  Node 2128 1 (Not 1882);
  Node 2129 1 (And 1895 2128);
  Node 2130 1 (Not 1839);
  Node 2131 1 (And 1838 2130);
  Node 2132 1 (Or 2129 2131);
  Node 2133 1 (And 1882 1895);
  Node 2134 1 (And 1838 1839);
  Node 2135 1 (Or 2133 2134);
  Node 2136 1 (Or 1834 1892);
  Node 2137 1 (And 2132 2135);
  Node 2138 1 (Or 2136 2137);
  Node 2139 1 (Or 2132 2135);
  Node 2140 1 (Or 2125 2139);
  Node 2141 1 (Not 2138);
  Node 2142 1 (And 2140 2141);
  Node 2143 1 (Ite 2139 2135 2013);
  Node 2147 1 (Extract 23 2118);
  Node 2148 8 (Zext 2147);
  Node 2149 8 (Add 2127 2148);
  Node 2150 23 (Extract 0 2118);
  Node 2151 31 (Concat 2149 2150);
  Node 2152 32 (Concat 2143 2151);
  Node 2153 32 (Concat 2143 142);
  Node 2154 32 (Ite 2142 2153 2152);
  Node 2155 32 (Ite 2138 964 2154);
  Node 2156 8 (Extract 23 2155);
  Node 2157 1 (Extract 31 2155);
  Node 2158 1 (Eq 36 2156);
  Node 2159 1 (Not 2158);
  Node 2160 23 (Extract 0 2155);
  Node 2161 24 (Concat 2159 2160);
  Node 2162 1 (Eq 960 2160);
  Node 2164 1 (And 2158 2162);
  Node 2165 1 (Eq 962 2156);
  Node 2166 1 (And 2162 2165);
  Node 2167 1 (Not 2162);
  Node 2168 1 (And 2165 2167);
  Node 2169 8 (Zext 2158);
  Node 2170 8 (Or 2156 2169);
  Node 2171 8 (Extract 23 10);
  Node 2172 1 (Extract 31 10);
  Node 2173 1 (Eq 36 2171);
  Node 2174 1 (Not 2173);
  Node 2175 23 (Extract 0 10);
  Node 2176 24 (Concat 2174 2175);
  Node 2177 1 (Eq 960 2175);
  Node 2179 1 (And 2173 2177);
  Node 2180 1 (Eq 962 2171);
  Node 2181 1 (And 2177 2180);
  Node 2182 1 (Not 2177);
  Node 2183 1 (And 2180 2182);
  Node 2184 8 (Zext 2173);
  Node 2185 8 (Or 2171 2184);
  Node 2186 16 (Extract 8 2161);
  Node 2187 1 (Eq 31 2186);
  Node 2188 8 (Extract 0 2155);
  Node 2189 24 (Concat 2188 31);
  Node 2190 24 (Ite 2187 2189 2161);
  Node 2191 8 (Extract 16 2190);
  Node 2192 1 (Eq 36 2191);
  Node 2193 16 (Extract 0 2190);
  Node 2194 24 (Concat 2193 36);
  Node 2195 24 (Ite 2192 2194 2190);
  Node 2196 4 (Extract 20 2195);
  Node 2197 1 (Eq 64 2196);
  Node 2198 20 (Extract 0 2195);
  Node 2199 24 (Concat 2198 64);
  Node 2200 24 (Ite 2197 2199 2195);
  Node 2201 2 (Extract 22 2200);
  Node 2202 1 (Eq 76 2201);
  Node 2203 22 (Extract 0 2200);
  Node 2204 24 (Concat 2203 76);
  Node 2205 24 (Ite 2202 2204 2200);
  Node 2206 1 (Extract 23 2205);
  Node 2207 1 (Eq 25 2206);
  Node 2208 23 (Extract 0 2205);
  Node 2209 24 (Concat 2208 25);
  Node 2210 24 (Ite 2207 2209 2205);
  Node 2211 2 (Concat 2187 2192);
  Node 2212 3 (Concat 2211 2197);
  Node 2213 4 (Concat 2212 2202);
  Node 2214 5 (Concat 2213 2207);
  Node 2215 9 (Zext 2170);
  Node 2216 9 (Add 1058 2215);
  Node 2217 9 (Zext 2214);
  Node 2218 9 (Sub 2216 2217);
  Node 2219 9 (Ite 2164 2216 2218);
  Node 2220 16 (Extract 8 2176);
  Node 2221 1 (Eq 31 2220);
  Node 2222 8 (Extract 0 10);
  Node 2223 24 (Concat 2222 31);
  Node 2224 24 (Ite 2221 2223 2176);
  Node 2225 8 (Extract 16 2224);
  Node 2226 1 (Eq 36 2225);
  Node 2227 16 (Extract 0 2224);
  Node 2228 24 (Concat 2227 36);
  Node 2229 24 (Ite 2226 2228 2224);
  Node 2230 4 (Extract 20 2229);
  Node 2231 1 (Eq 64 2230);
  Node 2232 20 (Extract 0 2229);
  Node 2233 24 (Concat 2232 64);
  Node 2234 24 (Ite 2231 2233 2229);
  Node 2235 2 (Extract 22 2234);
  Node 2236 1 (Eq 76 2235);
  Node 2237 22 (Extract 0 2234);
  Node 2238 24 (Concat 2237 76);
  Node 2239 24 (Ite 2236 2238 2234);
  Node 2240 1 (Extract 23 2239);
  Node 2241 1 (Eq 25 2240);
  Node 2242 23 (Extract 0 2239);
  Node 2243 24 (Concat 2242 25);
  Node 2244 24 (Ite 2241 2243 2239);
  Node 2245 2 (Concat 2221 2226);
  Node 2246 3 (Concat 2245 2231);
  Node 2247 4 (Concat 2246 2236);
  Node 2248 5 (Concat 2247 2241);
  Node 2249 9 (Zext 2185);
  Node 2250 9 (Add 1058 2249);
  Node 2251 9 (Zext 2248);
  Node 2252 9 (Sub 2250 2251);
  Node 2253 9 (Ite 2179 2250 2252);
  Node 2254 9 (Ite 2164 128 2219);
  Node 2255 9 (Ite 2179 128 2253);
  Node 2256 1 (Ult 2254 2255);
  Node 2257 9 (Ite 2256 2255 2254);
  Node 2258 9 (Sub 2257 2254);
  Node 2259 27 (Concat 2210 38);
  Node 2260 27 (Lshr 2259 2258);
  Node 2261 27 (Shl 2260 2258);
  Node 2262 1 (Eq 2259 2261);
  Node 2263 1 (Not 2262);
  Node 2264 27 (Zext 2263);
  Node 2265 27 (Or 2260 2264);
  Node 2266 9 (Sub 2257 2255);
  Node 2267 27 (Concat 2244 38);
  Node 2268 27 (Lshr 2267 2266);
  Node 2269 27 (Shl 2268 2266);
  Node 2270 1 (Eq 2267 2269);
  Node 2271 1 (Not 2270);
  Node 2272 27 (Zext 2271);
  Node 2273 27 (Or 2268 2272);
  Node 2274 28 (Zext 2265);
  Node 2275 28 (Neg 2274);
  Node 2276 28 (Ite 2157 2275 2274);
  Node 2277 28 (Zext 2273);
  Node 2278 28 (Neg 2277);
  Node 2279 28 (Ite 2172 2278 2277);
  Node 2280 29 (Sext 2276);
  Node 2281 29 (Sext 2279);
  Node 2282 29 (Add 2280 2281);
  Node 2283 33 (Sext 2282);
  Node 2286 1 (Extract 32 2283);
  Node 2287 33 (Neg 2283);
  Node 2288 33 (Ite 2286 2287 2283);
  Node 2289 32 (Extract 0 2288);
  Node 2290 1 (And 2157 2172);
  Node 2291 33 (Const 0);
  Node 2292 1 (Eq 2283 2291);
  Node 2293 1 (Ite 2292 2290 2286);
  Node 2294 9 (Const 27);
  Node 2295 1 (Ult 2257 2294);
  Node 2296 9 (Sub 2294 2257);
  Node 2297 9 (Ite 2295 2296 128);
  Node 2298 1 (Ult 2297 1059);
  Node 2299 9 (Ite 2298 2297 1059);
  Node 2300 6 (Extract 0 2299);
  Node 2301 32 (Lshr 2289 2300);
  Node 2302 32 (Shl 2301 2300);
  Node 2303 1 (Eq 2289 2302);
  Node 2304 1 (Not 2303);
  Node 2305 32 (Zext 2304);
  Node 2306 32 (Or 2301 2305);
  Node 2307 9 (Ite 2295 2294 2257);
  Node 2308 9 (Sub 2307 2294);
  Node 2309 4 (Extract 5 2308);
  Node 2310 1 (Eq 64 2309);
  Node 2311 1 (Not 2310);
  Node 2312 5 (Extract 0 2308);
  Node 2313 5 (Ite 2311 23 2312);
  Node 2314 16 (Extract 16 2306);
  Node 2315 1 (Eq 31 2314);
  Node 2316 1 (Extract 4 2313);
  Node 2317 1 (Not 2315);
  Node 2318 1 (And 2316 2317);
  Node 2319 1 (And 2315 2316);
  Node 2320 16 (Extract 0 2306);
  Node 2321 32 (Concat 2320 31);
  Node 2322 32 (Ite 2319 2321 2306);
  Node 2323 8 (Extract 24 2322);
  Node 2324 1 (Eq 36 2323);
  Node 2325 1 (Extract 3 2313);
  Node 2326 1 (Or 2318 2325);
  Node 2327 1 (Not 2324);
  Node 2328 1 (And 2325 2327);
  Node 2329 1 (Or 2318 2328);
  Node 2330 1 (And 2324 2326);
  Node 2331 24 (Extract 0 2322);
  Node 2332 32 (Concat 2331 36);
  Node 2333 32 (Ite 2330 2332 2322);
  Node 2334 4 (Extract 28 2333);
  Node 2335 1 (Eq 64 2334);
  Node 2336 1 (Extract 2 2313);
  Node 2337 1 (Or 2329 2336);
  Node 2338 1 (Not 2335);
  Node 2339 1 (And 2336 2338);
  Node 2340 1 (Or 2329 2339);
  Node 2341 1 (And 2335 2337);
  Node 2342 28 (Extract 0 2333);
  Node 2343 32 (Concat 2342 64);
  Node 2344 32 (Ite 2341 2343 2333);
  Node 2345 2 (Extract 30 2344);
  Node 2346 1 (Eq 76 2345);
  Node 2347 1 (Extract 1 2313);
  Node 2348 1 (Or 2340 2347);
  Node 2349 1 (Not 2346);
  Node 2350 1 (And 2347 2349);
  Node 2351 1 (Or 2340 2350);
  Node 2352 1 (And 2346 2348);
  Node 2353 30 (Extract 0 2344);
  Node 2354 32 (Concat 2353 76);
  Node 2355 32 (Ite 2352 2354 2344);
  Node 2356 1 (Extract 31 2355);
  Node 2357 1 (Eq 25 2356);
  Node 2358 1 (Extract 0 2313);
  Node 2359 1 (Or 2351 2358);
  Node 2363 1 (And 2357 2359);
  Node 2364 31 (Extract 0 2355);
  Node 2365 32 (Concat 2364 25);
  Node 2366 32 (Ite 2363 2365 2355);
  Node 2367 2 (Concat 2319 2330);
  Node 2368 3 (Concat 2367 2341);
  Node 2369 4 (Concat 2368 2352);
  Node 2370 5 (Concat 2369 2363);
  Node 2371 9 (Zext 2370);
  Node 2372 9 (Sub 2308 2371);
  Node 2373 24 (Extract 8 2366);
  Node 2374 1 (Extract 7 2366);
  Node 2375 7 (Extract 0 2366);
  Node 2376 7 (Const 0);
  Node 2377 1 (Eq 2375 2376);
  Node 2378 1 (Not 2377);
  Node 2379 1 (Extract 8 2366);
  Node 2380 1 (Or 2378 2379);
  Node 2381 1 (And 2374 2380);
  Node 2382 25 (Zext 2373);
  Node 2383 25 (Zext 2381);
  Node 2384 25 (Add 2382 2383);
  Node 2385 1 (Extract 24 2384);
  Node 2386 24 (Extract 0 2384);
  Node 2387 24 (Ite 2385 116 2386);
  Node 2388 1 (Eq 119 2387);
  Node 2389 10 (Zext 2372);
  Node 2390 10 (Zext 2385);
  Node 2391 10 (Add 2389 2390);
  Node 2392 1 (Not 2388);
  Node 2393 1 (Ult 1215 2391);
  Node 2394 1 (And 2392 2393);
  Node 2395 10 (Ite 2388 18 2391);
  Node 2396 8 (Extract 0 2395);
  Node 2397 1 (Not 2157);
  Node 2398 1 (And 2166 2397);
  Node 2399 1 (Not 2172);
  Node 2400 1 (And 2181 2399);
  Node 2401 1 (Or 2398 2400);
  Node 2402 1 (And 2157 2166);
  Node 2403 1 (And 2172 2181);
  Node 2404 1 (Or 2402 2403);
  Node 2405 1 (Or 2168 2183);
  Node 2406 1 (And 2401 2404);
  Node 2407 1 (Or 2405 2406);
  Node 2408 1 (Or 2401 2404);
  Node 2409 1 (Or 2394 2408);
  Node 2410 1 (Not 2407);
  Node 2411 1 (And 2409 2410);
  Node 2412 1 (Ite 2408 2404 2293);
  Node 2416 1 (Extract 23 2387);
  Node 2417 8 (Zext 2416);
  Node 2418 8 (Add 2396 2417);
  Node 2419 23 (Extract 0 2387);
  Node 2420 31 (Concat 2418 2419);
  Node 2421 32 (Concat 2412 2420);
  Node 2422 32 (Concat 2412 142);
  Node 2423 32 (Ite 2411 2422 2421);
  Node 2424 32 (Ite 2407 964 2423)].
Definition unit_design : design := {| a_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; b_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; c_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; d_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; scales := None; converted := (Some {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}); factors := {| of_a := Kept; of_b := Kept; normalise_factors := false; exponent_step := 1; zero_terms := None; odd_negated := false; product_limit := None; product_rounding := None |}; cutting_of := Whole; block := 1%nat; odd_first := false; skips := false; c_rule := Kept; sums := OneSum (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}); nan_word := 0x7fffffff; nans := OneWord; composed := (Some {| parts := [[0; 1; 2; 3]]%nat; addition := {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}; of_sum := Kept; of_c := Kept; addition_nan := 0x7fffffff |}) |}.
Definition plan : unit_plan := UnitPlan [2; 4; 6; 8]%positive [3; 5; 7; 9]%positive 10 []%positive
 [LeafPlan (Some (145, 609)%positive) [(Some 970%positive); (Some 985%positive)] (Number 995 996 999 (-254) 46 1005 1008);
  LeafPlan (Some (261, 725)%positive) [(Some 1247%positive); (Some 1262%positive)] (Number 1272 1273 1276 (-254) 46 1282 1285);
  LeafPlan (Some (377, 841)%positive) [(Some 1553%positive); (Some 1568%positive)] (Number 1578 1579 1582 (-254) 46 1588 1591);
  LeafPlan (Some (493, 957)%positive) [(Some 1857%positive); (Some 1872%positive)] (Number 1882 1883 1886 (-254) 46 1892 1895)]
 (Number 2172 2176 2185 (-127) 23 2183 2181) (Some 2176%positive) (Number 25 119 963 (-127) 23 25 25)
 [BlockPlan (Number 25 119 963 (-127) 23 25 25) (Sum (Two 50 [Operand (Number 995 996 999 (-254) 46 1005 1008) 1000 510; Operand (Number 25 119 963 (-127) 23 25 25) 959 255] (Fused [Addend (Number 995 1038 1051 (-316) 47 1005 1008) 1000 1065 1072 2251799813685241 573; Addend (Number 25 119 1059 (-158) 23 25 25) 959 1064 1079 2251799679467521 286] 1064 (-316) 573 (Partial 1087 (Leaf 1085 0%nat) (Leaf 1086 1%nat)) 1088 (Ending 1195 1203 1194 (Number 1229 1209 1219 (-126) 23 1224 1228)))) None [(At (Number 995 996 999 (-254) 46 1005 1008)); (At (Number 25 119 963 (-127) 23 25 25))]);
  BlockPlan (Number 1229 1209 1219 (-126) 23 1224 1228) (Sum (Two 50 [Operand (Number 1272 1273 1276 (-254) 46 1282 1285) 1277 510; Operand (Number 1229 1209 1219 (-126) 23 1224 1228) 1232 253] (Fused [Addend (Number 1272 1315 1326 (-316) 47 1282 1285) 1277 1368 1375 2251799813685241 573; Addend (Number 1229 1351 1360 (-157) 23 1224 1228) 1232 1376 1383 2251799679467521 284] 1367 (-316) 573 (Partial 1392 (Leaf 1390 0%nat) (Leaf 1391 1%nat)) 1393 (Ending 1497 1504 1496 (Number 1535 1510 1519 (-126) 23 1530 1534)))) None [(At (Number 1272 1273 1276 (-254) 46 1282 1285)); (At (Number 1229 1209 1219 (-126) 23 1224 1228))]);
  BlockPlan (Number 1535 1510 1519 (-126) 23 1530 1534) (Sum (Two 50 [Operand (Number 1578 1579 1582 (-254) 46 1588 1591) 1583 510; Operand (Number 1535 1510 1519 (-126) 23 1530 1534) 1538 253] (Fused [Addend (Number 1578 1621 1632 (-316) 47 1588 1591) 1583 1673 1680 2251799813685241 573; Addend (Number 1535 1657 1666 (-157) 23 1530 1534) 1538 1681 1688 2251799679467521 284] 1672 (-316) 573 (Partial 1697 (Leaf 1695 0%nat) (Leaf 1696 1%nat)) 1698 (Ending 1801 1808 1800 (Number 1839 1814 1823 (-126) 23 1834 1838)))) None [(At (Number 1578 1579 1582 (-254) 46 1588 1591)); (At (Number 1535 1510 1519 (-126) 23 1530 1534))]);
  BlockPlan (Number 1839 1814 1823 (-126) 23 1834 1838) (Sum (Two 50 [Operand (Number 1882 1883 1886 (-254) 46 1892 1895) 1887 510; Operand (Number 1839 1814 1823 (-126) 23 1834 1838) 1842 253] (Fused [Addend (Number 1882 1925 1936 (-316) 47 1892 1895) 1887 1977 1984 2251799813685241 573; Addend (Number 1839 1961 1970 (-157) 23 1834 1838) 1842 1985 1992 2251799679467521 284] 1976 (-316) 573 (Partial 2001 (Leaf 1999 0%nat) (Leaf 2000 1%nat)) 2002 (Ending 2105 2112 2104 (Number 2143 2118 2127 (-126) 23 2138 2142)))) None [(At (Number 1882 1883 1886 (-254) 46 1892 1895)); (At (Number 1839 1814 1823 (-126) 23 1834 1838))])]
 (Some ((Number 2157 2161 2170 (-127) 23 2168 2166), (Two 26 [Operand (Number 2157 2161 2170 (-127) 23 2168 2166) 2164 255; Operand (Number 2172 2176 2185 (-127) 23 2183 2181) 2179 255] (Fused [Addend (Number 2157 2210 2219 (-158) 23 2168 2166) 2164 2258 2265 134217721 286; Addend (Number 2172 2244 2253 (-158) 23 2183 2181) 2179 2266 2273 134217721 286] 2257 (-158) 286 (Partial 2282 (Leaf 2280 0%nat) (Leaf 2281 1%nat)) 2283 (Ending 2373 2381 2372 (Number 2412 2387 2396 (-126) 23 2407 2411)))))) 2424.
Definition e0 := (Bits 23 8 (U 145)).
Definition e1 := (Equal e0 (Num_ 255)).
Definition e2 := (Bits 0 23 (U 145)).
Definition e3 := (Equal e2 (Num_ 0)).
Definition e4 := (Both e1 (Negation e3)).
Definition e5 := (Bits 10 5 (U 2)).
Definition e6 := (Equal e5 (Num_ 31)).
Definition e7 := (Bits 0 10 (U 2)).
Definition e8 := (Equal e7 (Num_ 0)).
Definition e9 := (Both e6 (Negation e8)).
Definition e10 := (Negation e4).
Definition e11 := (Negation e9).
Definition e12 := (Negation (Both e1 e3)).
Definition e13 := (Negation (Both e6 e8)).
Definition e14 := (Equal (Bits 31 1 (U 145)) (Num_ 1)).
Definition e15 := (Equal (Bits 15 1 (U 2)) (Num_ 1)).
Definition e16 := (Negation e14).
Definition e17 := (Equal e5 (Num_ 0)).
Definition e18 := (If e17 e7 (Plus e7 (Num_ 1024))).
Definition e19 := (Equal e18 (Num_ 0)).
Definition e20 := (Negation e19).
Definition e21 := (Equal e0 (Num_ 0)).
Definition e22 := (Num_ (-126)).
Definition e23 := (If e21 e22 (Minus e0 (Num_ 127))).
Definition e24 := (Plus (Minus (If e17 (Num_ (-14)) (Minus e5 (Num_ 15))) e23) (Num_ 13)).
Definition e25 := (Num_ 8388608).
Definition e26 := (If e21 e2 (Plus e2 e25)).
Definition e27 := (Num_ 16777216).
Definition e28 := (Equal e23 e22).
Definition e29 := (Bits 23 8 (U 609)).
Definition e30 := (Equal e29 (Num_ 255)).
Definition e31 := (Bits 0 23 (U 609)).
Definition e32 := (Equal e31 (Num_ 0)).
Definition e33 := (Both e30 (Negation e32)).
Definition e34 := (Bits 10 5 (U 3)).
Definition e35 := (Equal e34 (Num_ 31)).
Definition e36 := (Bits 0 10 (U 3)).
Definition e37 := (Equal e36 (Num_ 0)).
Definition e38 := (Both e35 (Negation e37)).
Definition e39 := (Negation e33).
Definition e40 := (Negation e38).
Definition e41 := (Both e30 e32).
Definition e42 := (Both e35 e37).
Definition e43 := (Negation e41).
Definition e44 := (Negation e42).
Definition e45 := (Equal (Bits 31 1 (U 609)) (Num_ 1)).
Definition e46 := (Equal (Bits 15 1 (U 3)) (Num_ 1)).
Definition e47 := (Negation e45).
Definition e48 := (Equal e34 (Num_ 0)).
Definition e49 := (If e48 e36 (Plus e36 (Num_ 1024))).
Definition e50 := (Equal e49 (Num_ 0)).
Definition e51 := (Negation e50).
Definition e52 := (Equal e29 (Num_ 0)).
Definition e53 := (If e52 e22 (Minus e29 (Num_ 127))).
Definition e54 := (Plus (Minus (If e48 (Num_ (-14)) (Minus e34 (Num_ 15))) e53) (Num_ 13)).
Definition e55 := (If e52 e31 (Plus e31 e25)).
Definition e56 := (Equal e53 e22).
Definition e57 := (Either (Either e4 e33) (Either (Both (Both e1 e3) (Both (Negation (Either e33 e41)) (Equal e55 (Num_ 0)))) (Both (Both (Negation (Either e4 (Both e1 e3))) (Equal e26 (Num_ 0))) e41))).
Definition e58 := (Negation (Is 1005)).
Definition e59 := (Negation e57).
Definition e60 := (Either (Both e1 e3) e41).
Definition e61 := (Negation (Is 1008)).
Definition e62 := (Negation e60).
Definition e63 := (Negation (Either (Both e14 e45) (Both e16 e47))).
Definition e64 := (Negation (Is 995)).
Definition e65 := (Num_ (-254)).
Definition e66 := (Plus (U 999) e65).
Definition e67 := (Bits 23 8 (U 261)).
Definition e68 := (Equal e67 (Num_ 255)).
Definition e69 := (Bits 0 23 (U 261)).
Definition e70 := (Equal e69 (Num_ 0)).
Definition e71 := (Both e68 (Negation e70)).
Definition e72 := (Bits 10 5 (U 4)).
Definition e73 := (Equal e72 (Num_ 31)).
Definition e74 := (Bits 0 10 (U 4)).
Definition e75 := (Equal e74 (Num_ 0)).
Definition e76 := (Both e73 (Negation e75)).
Definition e77 := (Negation e71).
Definition e78 := (Negation e76).
Definition e79 := (Both e68 e70).
Definition e80 := (Both e73 e75).
Definition e81 := (Negation e79).
Definition e82 := (Negation e80).
Definition e83 := (Equal (Bits 31 1 (U 261)) (Num_ 1)).
Definition e84 := (Equal (Bits 15 1 (U 4)) (Num_ 1)).
Definition e85 := (Negation e83).
Definition e86 := (Equal e72 (Num_ 0)).
Definition e87 := (If e86 e74 (Plus e74 (Num_ 1024))).
Definition e88 := (Equal e87 (Num_ 0)).
Definition e89 := (Negation e88).
Definition e90 := (Equal e67 (Num_ 0)).
Definition e91 := (If e90 e22 (Minus e67 (Num_ 127))).
Definition e92 := (Plus (Minus (If e86 (Num_ (-14)) (Minus e72 (Num_ 15))) e91) (Num_ 13)).
Definition e93 := (If e90 e69 (Plus e69 e25)).
Definition e94 := (Equal e91 e22).
Definition e95 := (Bits 23 8 (U 725)).
Definition e96 := (Equal e95 (Num_ 255)).
Definition e97 := (Bits 0 23 (U 725)).
Definition e98 := (Equal e97 (Num_ 0)).
Definition e99 := (Both e96 (Negation e98)).
Definition e100 := (Bits 10 5 (U 5)).
Definition e101 := (Equal e100 (Num_ 31)).
Definition e102 := (Bits 0 10 (U 5)).
Definition e103 := (Equal e102 (Num_ 0)).
Definition e104 := (Both e101 (Negation e103)).
Definition e105 := (Negation e99).
Definition e106 := (Negation e104).
Definition e107 := (Both e96 e98).
Definition e108 := (Both e101 e103).
Definition e109 := (Negation e107).
Definition e110 := (Negation e108).
Definition e111 := (Equal (Bits 31 1 (U 725)) (Num_ 1)).
Definition e112 := (Equal (Bits 15 1 (U 5)) (Num_ 1)).
Definition e113 := (Negation e111).
Definition e114 := (Equal e100 (Num_ 0)).
Definition e115 := (If e114 e102 (Plus e102 (Num_ 1024))).
Definition e116 := (Equal e115 (Num_ 0)).
Definition e117 := (Negation e116).
Definition e118 := (Equal e95 (Num_ 0)).
Definition e119 := (If e118 e22 (Minus e95 (Num_ 127))).
Definition e120 := (Plus (Minus (If e114 (Num_ (-14)) (Minus e100 (Num_ 15))) e119) (Num_ 13)).
Definition e121 := (If e118 e97 (Plus e97 e25)).
Definition e122 := (Equal e119 e22).
Definition e123 := (Either (Either e71 e99) (Either (Both e79 (Both (Negation (Either e99 e107)) (Equal e121 (Num_ 0)))) (Both (Both (Negation (Either e71 e79)) (Equal e93 (Num_ 0))) e107))).
Definition e124 := (Negation (Is 1282)).
Definition e125 := (Negation e123).
Definition e126 := (Either e79 e107).
Definition e127 := (Negation (Is 1285)).
Definition e128 := (Negation e126).
Definition e129 := (Negation (Either (Both e83 e111) (Both e85 e113))).
Definition e130 := (Negation (Is 1272)).
Definition e131 := (Plus (U 1276) e65).
Definition e132 := (Bits 23 8 (U 377)).
Definition e133 := (Equal e132 (Num_ 255)).
Definition e134 := (Bits 0 23 (U 377)).
Definition e135 := (Equal e134 (Num_ 0)).
Definition e136 := (Both e133 (Negation e135)).
Definition e137 := (Bits 10 5 (U 6)).
Definition e138 := (Equal e137 (Num_ 31)).
Definition e139 := (Bits 0 10 (U 6)).
Definition e140 := (Equal e139 (Num_ 0)).
Definition e141 := (Both e138 (Negation e140)).
Definition e142 := (Negation e136).
Definition e143 := (Negation e141).
Definition e144 := (Both e133 e135).
Definition e145 := (Both e138 e140).
Definition e146 := (Negation e144).
Definition e147 := (Negation e145).
Definition e148 := (Equal (Bits 31 1 (U 377)) (Num_ 1)).
Definition e149 := (Equal (Bits 15 1 (U 6)) (Num_ 1)).
Definition e150 := (Negation e148).
Definition e151 := (Equal e137 (Num_ 0)).
Definition e152 := (If e151 e139 (Plus e139 (Num_ 1024))).
Definition e153 := (Equal e152 (Num_ 0)).
Definition e154 := (Negation e153).
Definition e155 := (Equal e132 (Num_ 0)).
Definition e156 := (If e155 e22 (Minus e132 (Num_ 127))).
Definition e157 := (Plus (Minus (If e151 (Num_ (-14)) (Minus e137 (Num_ 15))) e156) (Num_ 13)).
Definition e158 := (If e155 e134 (Plus e134 e25)).
Definition e159 := (Equal e156 e22).
Definition e160 := (Bits 23 8 (U 841)).
Definition e161 := (Equal e160 (Num_ 255)).
Definition e162 := (Bits 0 23 (U 841)).
Definition e163 := (Equal e162 (Num_ 0)).
Definition e164 := (Both e161 (Negation e163)).
Definition e165 := (Bits 10 5 (U 7)).
Definition e166 := (Equal e165 (Num_ 31)).
Definition e167 := (Bits 0 10 (U 7)).
Definition e168 := (Equal e167 (Num_ 0)).
Definition e169 := (Both e166 (Negation e168)).
Definition e170 := (Negation e164).
Definition e171 := (Negation e169).
Definition e172 := (Both e161 e163).
Definition e173 := (Both e166 e168).
Definition e174 := (Negation e172).
Definition e175 := (Negation e173).
Definition e176 := (Equal (Bits 31 1 (U 841)) (Num_ 1)).
Definition e177 := (Equal (Bits 15 1 (U 7)) (Num_ 1)).
Definition e178 := (Negation e176).
Definition e179 := (Equal e165 (Num_ 0)).
Definition e180 := (If e179 e167 (Plus e167 (Num_ 1024))).
Definition e181 := (Equal e180 (Num_ 0)).
Definition e182 := (Negation e181).
Definition e183 := (Equal e160 (Num_ 0)).
Definition e184 := (If e183 e22 (Minus e160 (Num_ 127))).
Definition e185 := (Plus (Minus (If e179 (Num_ (-14)) (Minus e165 (Num_ 15))) e184) (Num_ 13)).
Definition e186 := (If e183 e162 (Plus e162 e25)).
Definition e187 := (Equal e184 e22).
Definition e188 := (Either (Either e136 e164) (Either (Both e144 (Both (Negation (Either e164 e172)) (Equal e186 (Num_ 0)))) (Both (Both (Negation (Either e136 e144)) (Equal e158 (Num_ 0))) e172))).
Definition e189 := (Negation (Is 1588)).
Definition e190 := (Negation e188).
Definition e191 := (Either e144 e172).
Definition e192 := (Negation (Is 1591)).
Definition e193 := (Negation e191).
Definition e194 := (Negation (Either (Both e148 e176) (Both e150 e178))).
Definition e195 := (Negation (Is 1578)).
Definition e196 := (Plus (U 1582) e65).
Definition e197 := (Bits 23 8 (U 493)).
Definition e198 := (Equal e197 (Num_ 255)).
Definition e199 := (Bits 0 23 (U 493)).
Definition e200 := (Equal e199 (Num_ 0)).
Definition e201 := (Both e198 (Negation e200)).
Definition e202 := (Bits 10 5 (U 8)).
Definition e203 := (Equal e202 (Num_ 31)).
Definition e204 := (Bits 0 10 (U 8)).
Definition e205 := (Equal e204 (Num_ 0)).
Definition e206 := (Both e203 (Negation e205)).
Definition e207 := (Negation e201).
Definition e208 := (Negation e206).
Definition e209 := (Both e198 e200).
Definition e210 := (Both e203 e205).
Definition e211 := (Negation e209).
Definition e212 := (Negation e210).
Definition e213 := (Equal (Bits 31 1 (U 493)) (Num_ 1)).
Definition e214 := (Equal (Bits 15 1 (U 8)) (Num_ 1)).
Definition e215 := (Negation e213).
Definition e216 := (Equal e202 (Num_ 0)).
Definition e217 := (If e216 e204 (Plus e204 (Num_ 1024))).
Definition e218 := (Equal e217 (Num_ 0)).
Definition e219 := (Negation e218).
Definition e220 := (Equal e197 (Num_ 0)).
Definition e221 := (If e220 e22 (Minus e197 (Num_ 127))).
Definition e222 := (Plus (Minus (If e216 (Num_ (-14)) (Minus e202 (Num_ 15))) e221) (Num_ 13)).
Definition e223 := (If e220 e199 (Plus e199 e25)).
Definition e224 := (Equal e221 e22).
Definition e225 := (Bits 23 8 (U 957)).
Definition e226 := (Equal e225 (Num_ 255)).
Definition e227 := (Bits 0 23 (U 957)).
Definition e228 := (Equal e227 (Num_ 0)).
Definition e229 := (Both e226 (Negation e228)).
Definition e230 := (Bits 10 5 (U 9)).
Definition e231 := (Equal e230 (Num_ 31)).
Definition e232 := (Bits 0 10 (U 9)).
Definition e233 := (Equal e232 (Num_ 0)).
Definition e234 := (Both e231 (Negation e233)).
Definition e235 := (Negation e229).
Definition e236 := (Negation e234).
Definition e237 := (Both e226 e228).
Definition e238 := (Both e231 e233).
Definition e239 := (Negation e237).
Definition e240 := (Negation e238).
Definition e241 := (Equal (Bits 31 1 (U 957)) (Num_ 1)).
Definition e242 := (Equal (Bits 15 1 (U 9)) (Num_ 1)).
Definition e243 := (Negation e241).
Definition e244 := (Equal e230 (Num_ 0)).
Definition e245 := (If e244 e232 (Plus e232 (Num_ 1024))).
Definition e246 := (Equal e245 (Num_ 0)).
Definition e247 := (Negation e246).
Definition e248 := (Equal e225 (Num_ 0)).
Definition e249 := (If e248 e22 (Minus e225 (Num_ 127))).
Definition e250 := (Plus (Minus (If e244 (Num_ (-14)) (Minus e230 (Num_ 15))) e249) (Num_ 13)).
Definition e251 := (If e248 e227 (Plus e227 e25)).
Definition e252 := (Equal e249 e22).
Definition e253 := (Either (Either e201 e229) (Either (Both e209 (Both (Negation (Either e229 e237)) (Equal e251 (Num_ 0)))) (Both (Both (Negation (Either e201 e209)) (Equal e223 (Num_ 0))) e237))).
Definition e254 := (Negation (Is 1892)).
Definition e255 := (Negation e253).
Definition e256 := (Either e209 e237).
Definition e257 := (Negation (Is 1895)).
Definition e258 := (Negation e256).
Definition e259 := (Negation (Either (Both e213 e241) (Both e215 e243))).
Definition e260 := (Negation (Is 1882)).
Definition e261 := (Plus (U 1886) e65).
Definition e262 := (Bits 23 8 (U 10)).
Definition e263 := (Equal e262 (Num_ 255)).
Definition e264 := (Bits 0 23 (U 10)).
Definition e265 := (Equal e264 (Num_ 0)).
Definition e266 := (Both e263 (Negation e265)).
Definition e267 := (Negation e266).
Definition e268 := (Both e263 e265).
Definition e269 := (Negation e268).
Definition e270 := (Equal e262 (Num_ 0)).
Definition e271 := (Negation (Is 2183)).
Definition e272 := (Negation (Is 2181)).
Definition e273 := (Equal (Bits 31 1 (U 10)) (Num_ 1)).
Definition e274 := (Negation (Is 2172)).
Definition e275 := (Num_ (-127)).
Definition e276 := (Plus (U 2185) e275).
Definition e277 := (Both e58 e61).
Definition e278 := (AtMost (U 999) (Num_ 510)).
Definition e279 := (Equal (U 996) (Num_ 0)).
Definition e280 := (Negation (Is 1000)).
Definition e281 := (Negation e279).
Definition e282 := (Either (Both (Is 1000) e279) (Both e280 e281)).
Definition e283 := (Equal (U 1038) (Num_ 0)).
Definition e284 := (Negation e283).
Definition e285 := (Num_ (-316)).
Definition e286 := (Plus (U 1051) e285).
Definition e287 := (Plus (Minus e66 e286) (Num_ 1)).
Definition e288 := (Num_ 140737488355328).
Definition e289 := (Negation (Is 25)).
Definition e290 := (Both e289 e289).
Definition e291 := (AtMost (U 963) (Num_ 255)).
Definition e292 := (Equal (U 119) (Num_ 0)).
Definition e293 := (Negation (Is 959)).
Definition e294 := (Negation e292).
Definition e295 := (Either (Both (Is 959) e292) (Both e293 e294)).
Definition e296 := (Plus (U 963) e275).
Definition e297 := (Num_ (-158)).
Definition e298 := (Plus (U 1059) e297).
Definition e299 := (Plus (Minus e296 e298) (Num_ 0)).
Definition e300 := (AtMost (U 1051) (Num_ 573)).
Definition e301 := (AtMost (U 1059) (Num_ 286)).
Definition e302 := (Plus (U 1064) e285).
Definition e303 := (Low (U 1065) (Num_ 51)).
Definition e304 := (Times (U 1038) (Num_ 8)).
Definition e305 := (Num_ 2251799813685241).
Definition e306 := (Low (U 1064) (Num_ 51)).
Definition e307 := (Num_ 134217728).
Definition e308 := (Times (U 119) e307).
Definition e309 := (Num_ 2251799679467521).
Definition e310 := (Equal (Num_ 0) (Num_ 0)).
Definition e311 := (Negation e310).
Definition e312 := (AtMost (U 1064) (Num_ 573)).
Definition e313 := (Num_ (-4503599493152762)).
Definition e314 := (Num_ 4503599493152762).
Definition e315 := (Num_ (-2251799813685241)).
Definition e316 := (Num_ (-2251799679467521)).
Definition e317 := (Equal (Sg 1088) (Num_ 0)).
Definition e318 := (Both (AtMost e313 (Sg 1088)) (AtMost (Sg 1088) e314)).
Definition e319 := (Negation (Is 1203)).
Definition e320 := (Both (Equal (U 1195) (Num_ 0)) e319).
Definition e321 := (Negation e317).
Definition e322 := (Either (AtMost e25 (U 1195)) (Equal (U 1194) (Num_ 0))).
Definition e323 := (Num_ (-149)).
Definition e324 := (Plus (U 1194) e323).
Definition e325 := (Num_ (-366)).
Definition e326 := (Plus (U 1064) e325).
Definition e327 := (Abs (Sg 1088)).
Definition e328 := (Less e326 e324).
Definition e329 := (Low (Minus e324 e326) (Num_ 54)).
Definition e330 := (Shift (U 1195) e329).
Definition e331 := (Shift (Num_ 1) e329).
Definition e332 := (Minus e327 e330).
Definition e333 := (Plus e332 e332).
Definition e334 := (Either (Less e331 e333) (Both (Equal e331 e333) (Equal (Bits 0 1 (U 1195)) (Num_ 1)))).
Definition e335 := (Either (Is 25) e311).
Definition e336 := (Either (Both (Is 1008) e64) (Either (Both (Is 25) e289) e311)).
Definition e337 := (Either (Both (Is 1008) (Is 995)) (Either (Both (Is 25) (Is 25)) e311)).
Definition e338 := (Either (Either (Is 1005) e335) (Both e336 e337)).
Definition e339 := (Negation (Is 1224)).
Definition e340 := (Negation e338).
Definition e341 := (Either e336 e337).
Definition e342 := (Negation (Is 1229)).
Definition e343 := (Negation e341).
Definition e344 := (Either e321 e320).
Definition e345 := (Either e317 e322).
Definition e346 := (Plus (U 1195) (If (Is 1203) (Num_ 1) (Num_ 0))).
Definition e347 := (Either (Equal e346 (Num_ 0)) e311).
Definition e348 := (Negation e347).
Definition e349 := (AtMost e27 e346).
Definition e350 := (Plus (U 1194) (If e349 (Num_ 1) (Num_ 0))).
Definition e351 := (Both (AtMost e25 e346) (Less (Num_ 253) e350)).
Definition e352 := (Both e348 (Both e351 e310)).
Definition e353 := (Negation (Is 1228)).
Definition e354 := (Negation e352).
Definition e355 := (Less (Sg 1088) (Num_ 0)).
Definition e356 := (Both (Both (Equal (U 1072) (Num_ 0)) (Both (Equal (U 1079) (Num_ 0)) e310)) (Either (Both (Is 995) (Both (Is 25) e310)) (Both e64 (Both e289 e310)))).
Definition e357 := (Either (Both e347 (Either (Both e321 e355) (Both e317 (Either (Both e356 (Either (Is 995) e335)) (Both (Negation e356) e311))))) (Both e348 e355)).
Definition e358 := (Num_ 16777215).
Definition e359 := (Plus (U 1219) e22).
Definition e360 := (Both e124 e127).
Definition e361 := (AtMost (U 1276) (Num_ 510)).
Definition e362 := (Equal (U 1273) (Num_ 0)).
Definition e363 := (Negation (Is 1277)).
Definition e364 := (Negation e362).
Definition e365 := (Either (Both (Is 1277) e362) (Both e363 e364)).
Definition e366 := (Equal (U 1315) (Num_ 0)).
Definition e367 := (Negation e366).
Definition e368 := (Plus (U 1326) e285).
Definition e369 := (Plus (Minus e131 e368) (Num_ 1)).
Definition e370 := (Both e339 e353).
Definition e371 := (AtMost (U 1219) (Num_ 253)).
Definition e372 := (Equal (U 1209) (Num_ 0)).
Definition e373 := (Negation (Is 1232)).
Definition e374 := (Negation e372).
Definition e375 := (Either (Both (Is 1232) e372) (Both e373 e374)).
Definition e376 := (Equal (U 1351) (Num_ 0)).
Definition e377 := (Negation e376).
Definition e378 := (Num_ (-157)).
Definition e379 := (Plus (U 1360) e378).
Definition e380 := (Plus (Minus e359 e379) (Num_ 0)).
Definition e381 := (AtMost (U 1326) (Num_ 573)).
Definition e382 := (AtMost (U 1360) (Num_ 284)).
Definition e383 := (Plus (U 1367) e285).
Definition e384 := (Low (U 1368) (Num_ 51)).
Definition e385 := (Times (U 1315) (Num_ 8)).
Definition e386 := (Low (U 1376) (Num_ 51)).
Definition e387 := (Times (U 1351) e307).
Definition e388 := (AtMost (U 1367) (Num_ 573)).
Definition e389 := (Equal (Sg 1393) (Num_ 0)).
Definition e390 := (Both (AtMost e313 (Sg 1393)) (AtMost (Sg 1393) e314)).
Definition e391 := (Negation (Is 1504)).
Definition e392 := (Both (Equal (U 1497) (Num_ 0)) e391).
Definition e393 := (Negation e389).
Definition e394 := (Either (AtMost e25 (U 1497)) (Equal (U 1496) (Num_ 0))).
Definition e395 := (Plus (U 1496) e323).
Definition e396 := (Plus (U 1367) e325).
Definition e397 := (Abs (Sg 1393)).
Definition e398 := (Less e396 e395).
Definition e399 := (Low (Minus e395 e396) (Num_ 54)).
Definition e400 := (Shift (U 1497) e399).
Definition e401 := (Shift (Num_ 1) e399).
Definition e402 := (Minus e397 e400).
Definition e403 := (Plus e402 e402).
Definition e404 := (Either (Less e401 e403) (Both (Equal e401 e403) (Equal (Bits 0 1 (U 1497)) (Num_ 1)))).
Definition e405 := (Either (Both (Is 1285) e130) (Either (Both (Is 1228) e342) e311)).
Definition e406 := (Either (Both (Is 1285) (Is 1272)) (Either (Both (Is 1228) (Is 1229)) e311)).
Definition e407 := (Either (Either (Is 1282) (Either (Is 1224) e311)) (Both e405 e406)).
Definition e408 := (Negation (Is 1530)).
Definition e409 := (Negation e407).
Definition e410 := (Either e405 e406).
Definition e411 := (Negation (Is 1535)).
Definition e412 := (Negation e410).
Definition e413 := (Either e393 e392).
Definition e414 := (Either e389 e394).
Definition e415 := (Plus (U 1497) (If (Is 1504) (Num_ 1) (Num_ 0))).
Definition e416 := (Either (Equal e415 (Num_ 0)) e311).
Definition e417 := (Negation e416).
Definition e418 := (AtMost e27 e415).
Definition e419 := (Plus (U 1496) (If e418 (Num_ 1) (Num_ 0))).
Definition e420 := (Both (AtMost e25 e415) (Less (Num_ 253) e419)).
Definition e421 := (Both e417 (Both e420 e310)).
Definition e422 := (Negation (Is 1534)).
Definition e423 := (Negation e421).
Definition e424 := (Less (Sg 1393) (Num_ 0)).
Definition e425 := (Both (Both (Equal (U 1375) (Num_ 0)) (Both (Equal (U 1383) (Num_ 0)) e310)) (Either (Both (Is 1272) (Both (Is 1229) e310)) (Both e130 (Both e342 e310)))).
Definition e426 := (Either (Both e416 (Either (Both e393 e424) (Both e389 (Either (Both e425 (Either (Is 1272) (Either (Is 1229) e311))) (Both (Negation e425) e311))))) (Both e417 e424)).
Definition e427 := (Plus (U 1519) e22).
Definition e428 := (Both e189 e192).
Definition e429 := (AtMost (U 1582) (Num_ 510)).
Definition e430 := (Equal (U 1579) (Num_ 0)).
Definition e431 := (Negation (Is 1583)).
Definition e432 := (Negation e430).
Definition e433 := (Either (Both (Is 1583) e430) (Both e431 e432)).
Definition e434 := (Equal (U 1621) (Num_ 0)).
Definition e435 := (Negation e434).
Definition e436 := (Plus (U 1632) e285).
Definition e437 := (Plus (Minus e196 e436) (Num_ 1)).
Definition e438 := (Both e408 e422).
Definition e439 := (AtMost (U 1519) (Num_ 253)).
Definition e440 := (Equal (U 1510) (Num_ 0)).
Definition e441 := (Negation (Is 1538)).
Definition e442 := (Negation e440).
Definition e443 := (Either (Both (Is 1538) e440) (Both e441 e442)).
Definition e444 := (Equal (U 1657) (Num_ 0)).
Definition e445 := (Negation e444).
Definition e446 := (Plus (U 1666) e378).
Definition e447 := (Plus (Minus e427 e446) (Num_ 0)).
Definition e448 := (AtMost (U 1632) (Num_ 573)).
Definition e449 := (AtMost (U 1666) (Num_ 284)).
Definition e450 := (Plus (U 1672) e285).
Definition e451 := (Low (U 1673) (Num_ 51)).
Definition e452 := (Times (U 1621) (Num_ 8)).
Definition e453 := (Low (U 1681) (Num_ 51)).
Definition e454 := (Times (U 1657) e307).
Definition e455 := (AtMost (U 1672) (Num_ 573)).
Definition e456 := (Equal (Sg 1698) (Num_ 0)).
Definition e457 := (Both (AtMost e313 (Sg 1698)) (AtMost (Sg 1698) e314)).
Definition e458 := (Negation (Is 1808)).
Definition e459 := (Both (Equal (U 1801) (Num_ 0)) e458).
Definition e460 := (Negation e456).
Definition e461 := (Either (AtMost e25 (U 1801)) (Equal (U 1800) (Num_ 0))).
Definition e462 := (Plus (U 1800) e323).
Definition e463 := (Plus (U 1672) e325).
Definition e464 := (Abs (Sg 1698)).
Definition e465 := (Less e463 e462).
Definition e466 := (Low (Minus e462 e463) (Num_ 54)).
Definition e467 := (Shift (U 1801) e466).
Definition e468 := (Shift (Num_ 1) e466).
Definition e469 := (Minus e464 e467).
Definition e470 := (Plus e469 e469).
Definition e471 := (Either (Less e468 e470) (Both (Equal e468 e470) (Equal (Bits 0 1 (U 1801)) (Num_ 1)))).
Definition e472 := (Either (Both (Is 1591) e195) (Either (Both (Is 1534) e411) e311)).
Definition e473 := (Either (Both (Is 1591) (Is 1578)) (Either (Both (Is 1534) (Is 1535)) e311)).
Definition e474 := (Either (Either (Is 1588) (Either (Is 1530) e311)) (Both e472 e473)).
Definition e475 := (Negation (Is 1834)).
Definition e476 := (Negation e474).
Definition e477 := (Either e472 e473).
Definition e478 := (Negation (Is 1839)).
Definition e479 := (Negation e477).
Definition e480 := (Either e460 e459).
Definition e481 := (Either e456 e461).
Definition e482 := (Plus (U 1801) (If (Is 1808) (Num_ 1) (Num_ 0))).
Definition e483 := (Either (Equal e482 (Num_ 0)) e311).
Definition e484 := (Negation e483).
Definition e485 := (AtMost e27 e482).
Definition e486 := (Plus (U 1800) (If e485 (Num_ 1) (Num_ 0))).
Definition e487 := (Both (AtMost e25 e482) (Less (Num_ 253) e486)).
Definition e488 := (Both e484 (Both e487 e310)).
Definition e489 := (Negation (Is 1838)).
Definition e490 := (Negation e488).
Definition e491 := (Less (Sg 1698) (Num_ 0)).
Definition e492 := (Both (Both (Equal (U 1680) (Num_ 0)) (Both (Equal (U 1688) (Num_ 0)) e310)) (Either (Both (Is 1578) (Both (Is 1535) e310)) (Both e195 (Both e411 e310)))).
Definition e493 := (Either (Both e483 (Either (Both e460 e491) (Both e456 (Either (Both e492 (Either (Is 1578) (Either (Is 1535) e311))) (Both (Negation e492) e311))))) (Both e484 e491)).
Definition e494 := (Plus (U 1823) e22).
Definition e495 := (Both e254 e257).
Definition e496 := (AtMost (U 1886) (Num_ 510)).
Definition e497 := (Equal (U 1883) (Num_ 0)).
Definition e498 := (Negation (Is 1887)).
Definition e499 := (Negation e497).
Definition e500 := (Either (Both (Is 1887) e497) (Both e498 e499)).
Definition e501 := (Equal (U 1925) (Num_ 0)).
Definition e502 := (Negation e501).
Definition e503 := (Plus (U 1936) e285).
Definition e504 := (Plus (Minus e261 e503) (Num_ 1)).
Definition e505 := (Both e475 e489).
Definition e506 := (AtMost (U 1823) (Num_ 253)).
Definition e507 := (Equal (U 1814) (Num_ 0)).
Definition e508 := (Negation (Is 1842)).
Definition e509 := (Negation e507).
Definition e510 := (Either (Both (Is 1842) e507) (Both e508 e509)).
Definition e511 := (Equal (U 1961) (Num_ 0)).
Definition e512 := (Negation e511).
Definition e513 := (Plus (U 1970) e378).
Definition e514 := (Plus (Minus e494 e513) (Num_ 0)).
Definition e515 := (AtMost (U 1936) (Num_ 573)).
Definition e516 := (AtMost (U 1970) (Num_ 284)).
Definition e517 := (Plus (U 1976) e285).
Definition e518 := (Low (U 1977) (Num_ 51)).
Definition e519 := (Times (U 1925) (Num_ 8)).
Definition e520 := (Low (U 1985) (Num_ 51)).
Definition e521 := (Times (U 1961) e307).
Definition e522 := (AtMost (U 1976) (Num_ 573)).
Definition e523 := (Equal (Sg 2002) (Num_ 0)).
Definition e524 := (Both (AtMost e313 (Sg 2002)) (AtMost (Sg 2002) e314)).
Definition e525 := (Negation (Is 2112)).
Definition e526 := (Both (Equal (U 2105) (Num_ 0)) e525).
Definition e527 := (Negation e523).
Definition e528 := (Either (AtMost e25 (U 2105)) (Equal (U 2104) (Num_ 0))).
Definition e529 := (Plus (U 2104) e323).
Definition e530 := (Plus (U 1976) e325).
Definition e531 := (Abs (Sg 2002)).
Definition e532 := (Less e530 e529).
Definition e533 := (Low (Minus e529 e530) (Num_ 54)).
Definition e534 := (Shift (U 2105) e533).
Definition e535 := (Shift (Num_ 1) e533).
Definition e536 := (Minus e531 e534).
Definition e537 := (Plus e536 e536).
Definition e538 := (Either (Less e535 e537) (Both (Equal e535 e537) (Equal (Bits 0 1 (U 2105)) (Num_ 1)))).
Definition e539 := (Either (Both (Is 1895) e260) (Either (Both (Is 1838) e478) e311)).
Definition e540 := (Either (Both (Is 1895) (Is 1882)) (Either (Both (Is 1838) (Is 1839)) e311)).
Definition e541 := (Either (Either (Is 1892) (Either (Is 1834) e311)) (Both e539 e540)).
Definition e542 := (Negation (Is 2138)).
Definition e543 := (Negation e541).
Definition e544 := (Either e539 e540).
Definition e545 := (Negation (Is 2143)).
Definition e546 := (Negation e544).
Definition e547 := (Either e527 e526).
Definition e548 := (Either e523 e528).
Definition e549 := (Plus (U 2105) (If (Is 2112) (Num_ 1) (Num_ 0))).
Definition e550 := (Either (Equal e549 (Num_ 0)) e311).
Definition e551 := (Negation e550).
Definition e552 := (AtMost e27 e549).
Definition e553 := (Plus (U 2104) (If e552 (Num_ 1) (Num_ 0))).
Definition e554 := (Both (AtMost e25 e549) (Less (Num_ 253) e553)).
Definition e555 := (Both e551 (Both e554 e310)).
Definition e556 := (Negation (Is 2142)).
Definition e557 := (Negation e555).
Definition e558 := (Less (Sg 2002) (Num_ 0)).
Definition e559 := (Both (Both (Equal (U 1984) (Num_ 0)) (Both (Equal (U 1992) (Num_ 0)) e310)) (Either (Both (Is 1882) (Both (Is 1839) e310)) (Both e260 (Both e478 e310)))).
Definition e560 := (Either (Both e550 (Either (Both e527 e558) (Both e523 (Either (Both e559 (Either (Is 1882) (Either (Is 1839) e311))) (Both (Negation e559) e311))))) (Both e551 e558)).
Definition e561 := (Plus (U 2127) e22).
Definition e562 := (Negation e311).
Definition e563 := (Either (Both (Is 25) e311) (Both e289 e562)).
Definition e564 := (Either (Is 2138) (Either (Is 2142) (Both e543 (Both e546 (Both e547 (Both e548 e310)))))).
Definition e565 := (Negation (Is 2168)).
Definition e566 := (Negation (Is 2166)).
Definition e567 := (Negation (Is 2157)).
Definition e568 := (Plus (U 2170) e275).
Definition e569 := (Both e565 e566).
Definition e570 := (AtMost (U 2170) (Num_ 255)).
Definition e571 := (Equal (U 2161) (Num_ 0)).
Definition e572 := (Negation (Is 2164)).
Definition e573 := (Negation e571).
Definition e574 := (Either (Both (Is 2164) e571) (Both e572 e573)).
Definition e575 := (Equal (U 2210) (Num_ 0)).
Definition e576 := (Negation e575).
Definition e577 := (Plus (U 2219) e297).
Definition e578 := (Plus (Minus e568 e577) (Num_ 0)).
Definition e579 := (Both e271 e272).
Definition e580 := (AtMost (U 2185) (Num_ 255)).
Definition e581 := (Equal (U 2176) (Num_ 0)).
Definition e582 := (Negation (Is 2179)).
Definition e583 := (Negation e581).
Definition e584 := (Either (Both (Is 2179) e581) (Both e582 e583)).
Definition e585 := (Equal (U 2244) (Num_ 0)).
Definition e586 := (Negation e585).
Definition e587 := (Plus (U 2253) e297).
Definition e588 := (Plus (Minus e276 e587) (Num_ 0)).
Definition e589 := (AtMost (U 2219) (Num_ 286)).
Definition e590 := (AtMost (U 2253) (Num_ 286)).
Definition e591 := (Plus (U 2257) e297).
Definition e592 := (Low (U 2258) (Num_ 27)).
Definition e593 := (Times (U 2210) (Num_ 8)).
Definition e594 := (Num_ 134217721).
Definition e595 := (Low (U 2266) (Num_ 27)).
Definition e596 := (Times (U 2244) (Num_ 8)).
Definition e597 := (AtMost (U 2257) (Num_ 286)).
Definition e598 := (Num_ (-268435442)).
Definition e599 := (Num_ 268435442).
Definition e600 := (Num_ (-134217721)).
Definition e601 := (Equal (Sg 2283) (Num_ 0)).
Definition e602 := (Both (AtMost e598 (Sg 2283)) (AtMost (Sg 2283) e599)).
Definition e603 := (Negation (Is 2381)).
Definition e604 := (Both (Equal (U 2373) (Num_ 0)) e603).
Definition e605 := (Negation e601).
Definition e606 := (Either (AtMost e25 (U 2373)) (Equal (U 2372) (Num_ 0))).
Definition e607 := (Plus (U 2372) e323).
Definition e608 := (Plus (U 2257) (Num_ (-184))).
Definition e609 := (Abs (Sg 2283)).
Definition e610 := (Less e608 e607).
Definition e611 := (Low (Minus e607 e608) (Num_ 30)).
Definition e612 := (Shift (U 2373) e611).
Definition e613 := (Shift (Num_ 1) e611).
Definition e614 := (Minus e609 e612).
Definition e615 := (Plus e614 e614).
Definition e616 := (Either (Less e613 e615) (Both (Equal e613 e615) (Equal (Bits 0 1 (U 2373)) (Num_ 1)))).
Definition e617 := (Either (Both (Is 2166) e567) (Either (Both (Is 2181) e274) e311)).
Definition e618 := (Either (Both (Is 2166) (Is 2157)) (Either (Both (Is 2181) (Is 2172)) e311)).
Definition e619 := (Either (Either (Is 2168) (Either (Is 2183) e311)) (Both e617 e618)).
Definition e620 := (Negation (Is 2407)).
Definition e621 := (Negation e619).
Definition e622 := (Either e617 e618).
Definition e623 := (Negation (Is 2412)).
Definition e624 := (Negation e622).
Definition e625 := (Either e605 e604).
Definition e626 := (Either e601 e606).
Definition e627 := (Plus (U 2373) (If (Is 2381) (Num_ 1) (Num_ 0))).
Definition e628 := (Either (Equal e627 (Num_ 0)) e311).
Definition e629 := (Negation e628).
Definition e630 := (AtMost e27 e627).
Definition e631 := (Plus (U 2372) (If e630 (Num_ 1) (Num_ 0))).
Definition e632 := (Both (AtMost e25 e627) (Less (Num_ 253) e631)).
Definition e633 := (Both e629 (Both e632 e310)).
Definition e634 := (Negation (Is 2411)).
Definition e635 := (Negation e633).
Definition e636 := (Less (Sg 2283) (Num_ 0)).
Definition e637 := (Both (Both (Equal (U 2265) (Num_ 0)) (Both (Equal (U 2273) (Num_ 0)) e310)) (Either (Both (Is 2157) (Both (Is 2172) e310)) (Both e567 (Both e274 e310)))).
Definition e638 := (Either (Both e628 (Either (Both e605 e636) (Both e601 (Either (Both e637 (Either (Is 2157) (Either (Is 2172) e311))) (Both (Negation e637) e311))))) (Both e629 e636)).
Definition e639 := (Plus (U 2396) e22).
Definition e640 := (If (Is 2412) (Num_ 2147483648) (Num_ 0)).
Definition e641 := (Times (U 2387) (Num_ 1)).
Definition certified : list claim := [
  Claim [] (Either (Both e4 e9) (Both e10 e11));
  Claim [e11] (Either (Both (Both e1 e3) (Both e6 e8)) (Both e12 e13));
  Claim [e11] (Either (Both e14 e15) (Both e16 (Negation e15)));
  Claim [e20; e11; e13] (Both (AtMost (Num_ 0) e24) (AtMost e24 (Num_ 64)));
  Claim [e11; e13] (Equal e26 (Shift e18 (Low e24 (Num_ 64))));
  Claim [e11; e13] (Both (AtMost e22 e23) (Less e26 e27));
  Claim [e19; e11; e13] e28;
  Claim [e20; e11; e13] (Either (AtMost e25 e26) e28);
  Claim [] (Either (Both e33 e38) (Both e39 e40));
  Claim [e40] (Either (Both e41 e42) (Both e43 e44));
  Claim [e40] (Either (Both e45 e46) (Both e47 (Negation e46)));
  Claim [e51; e40; e44] (Both (AtMost (Num_ 0) e54) (AtMost e54 (Num_ 64)));
  Claim [e40; e44] (Equal e55 (Shift e49 (Low e54 (Num_ 64))));
  Claim [e40; e44] (Both (AtMost e22 e53) (Less e55 e27));
  Claim [e50; e40; e44] e56;
  Claim [e51; e40; e44] (Either (AtMost e25 e55) e56);
  Claim [e10; e12] (Equal (U 970) e26);
  Claim [e39; e43] (Equal (U 985) e55);
  Claim [] (Either (Both (Is 1005) e57) (Both e58 e59));
  Claim [e59] (Either (Both (Is 1008) e60) (Both e61 e62));
  Claim [e59] (Either (Both (Is 995) e63) (Both e64 (Negation e63)));
  Claim [e59; e62] (Equal e66 (Plus e23 e53));
  Claim [] (Equal (U 996) (Times (U 970) (U 985)));
  Claim [] (Either (Both e71 e76) (Both e77 e78));
  Claim [e78] (Either (Both e79 e80) (Both e81 e82));
  Claim [e78] (Either (Both e83 e84) (Both e85 (Negation e84)));
  Claim [e89; e78; e82] (Both (AtMost (Num_ 0) e92) (AtMost e92 (Num_ 64)));
  Claim [e78; e82] (Equal e93 (Shift e87 (Low e92 (Num_ 64))));
  Claim [e78; e82] (Both (AtMost e22 e91) (Less e93 e27));
  Claim [e88; e78; e82] e94;
  Claim [e89; e78; e82] (Either (AtMost e25 e93) e94);
  Claim [] (Either (Both e99 e104) (Both e105 e106));
  Claim [e106] (Either (Both e107 e108) (Both e109 e110));
  Claim [e106] (Either (Both e111 e112) (Both e113 (Negation e112)));
  Claim [e117; e106; e110] (Both (AtMost (Num_ 0) e120) (AtMost e120 (Num_ 64)));
  Claim [e106; e110] (Equal e121 (Shift e115 (Low e120 (Num_ 64))));
  Claim [e106; e110] (Both (AtMost e22 e119) (Less e121 e27));
  Claim [e116; e106; e110] e122;
  Claim [e117; e106; e110] (Either (AtMost e25 e121) e122);
  Claim [e77; e81] (Equal (U 1247) e93);
  Claim [e105; e109] (Equal (U 1262) e121);
  Claim [] (Either (Both (Is 1282) e123) (Both e124 e125));
  Claim [e125] (Either (Both (Is 1285) e126) (Both e127 e128));
  Claim [e125] (Either (Both (Is 1272) e129) (Both e130 (Negation e129)));
  Claim [e125; e128] (Equal e131 (Plus e91 e119));
  Claim [] (Equal (U 1273) (Times (U 1247) (U 1262)));
  Claim [] (Either (Both e136 e141) (Both e142 e143));
  Claim [e143] (Either (Both e144 e145) (Both e146 e147));
  Claim [e143] (Either (Both e148 e149) (Both e150 (Negation e149)));
  Claim [e154; e143; e147] (Both (AtMost (Num_ 0) e157) (AtMost e157 (Num_ 64)));
  Claim [e143; e147] (Equal e158 (Shift e152 (Low e157 (Num_ 64))));
  Claim [e143; e147] (Both (AtMost e22 e156) (Less e158 e27));
  Claim [e153; e143; e147] e159;
  Claim [e154; e143; e147] (Either (AtMost e25 e158) e159);
  Claim [] (Either (Both e164 e169) (Both e170 e171));
  Claim [e171] (Either (Both e172 e173) (Both e174 e175));
  Claim [e171] (Either (Both e176 e177) (Both e178 (Negation e177)));
  Claim [e182; e171; e175] (Both (AtMost (Num_ 0) e185) (AtMost e185 (Num_ 64)));
  Claim [e171; e175] (Equal e186 (Shift e180 (Low e185 (Num_ 64))));
  Claim [e171; e175] (Both (AtMost e22 e184) (Less e186 e27));
  Claim [e181; e171; e175] e187;
  Claim [e182; e171; e175] (Either (AtMost e25 e186) e187);
  Claim [e142; e146] (Equal (U 1553) e158);
  Claim [e170; e174] (Equal (U 1568) e186);
  Claim [] (Either (Both (Is 1588) e188) (Both e189 e190));
  Claim [e190] (Either (Both (Is 1591) e191) (Both e192 e193));
  Claim [e190] (Either (Both (Is 1578) e194) (Both e195 (Negation e194)));
  Claim [e190; e193] (Equal e196 (Plus e156 e184));
  Claim [] (Equal (U 1579) (Times (U 1553) (U 1568)));
  Claim [] (Either (Both e201 e206) (Both e207 e208));
  Claim [e208] (Either (Both e209 e210) (Both e211 e212));
  Claim [e208] (Either (Both e213 e214) (Both e215 (Negation e214)));
  Claim [e219; e208; e212] (Both (AtMost (Num_ 0) e222) (AtMost e222 (Num_ 64)));
  Claim [e208; e212] (Equal e223 (Shift e217 (Low e222 (Num_ 64))));
  Claim [e208; e212] (Both (AtMost e22 e221) (Less e223 e27));
  Claim [e218; e208; e212] e224;
  Claim [e219; e208; e212] (Either (AtMost e25 e223) e224);
  Claim [] (Either (Both e229 e234) (Both e235 e236));
  Claim [e236] (Either (Both e237 e238) (Both e239 e240));
  Claim [e236] (Either (Both e241 e242) (Both e243 (Negation e242)));
  Claim [e247; e236; e240] (Both (AtMost (Num_ 0) e250) (AtMost e250 (Num_ 64)));
  Claim [e236; e240] (Equal e251 (Shift e245 (Low e250 (Num_ 64))));
  Claim [e236; e240] (Both (AtMost e22 e249) (Less e251 e27));
  Claim [e246; e236; e240] e252;
  Claim [e247; e236; e240] (Either (AtMost e25 e251) e252);
  Claim [e207; e211] (Equal (U 1857) e223);
  Claim [e235; e239] (Equal (U 1872) e251);
  Claim [] (Either (Both (Is 1892) e253) (Both e254 e255));
  Claim [e255] (Either (Both (Is 1895) e256) (Both e257 e258));
  Claim [e255] (Either (Both (Is 1882) e259) (Both e260 (Negation e259)));
  Claim [e255; e258] (Equal e261 (Plus e221 e249));
  Claim [] (Equal (U 1883) (Times (U 1857) (U 1872)));
  Claim [e267; e269] (Equal (U 2176) (If e270 e264 (Plus e264 e25)));
  Claim [] (Either (Both (Is 2183) e266) (Both e271 e267));
  Claim [e267] (Either (Both (Is 2181) e268) (Both e272 e269));
  Claim [e267] (Either (Both (Is 2172) e273) (Both e274 (Negation e273)));
  Claim [e267; e269] (Equal e276 (If e270 e22 (Minus e262 (Num_ 127))));
  Claim [] (Equal (U 2176) (U 2176));
  Claim [e277] e278;
  Claim [e277] e282;
  Claim [e277; e278; e282] (Either (Both e283 e279) (Both e284 e281));
  Claim [e277; e281; e278; e282] (Both (AtMost (Num_ 0) e287) (AtMost e287 (Num_ 48)));
  Claim [e277; e281; e278; e282] (Equal (U 1038) (Shift (U 996) (Low e287 (Num_ 48))));
  Claim [e277; e281; e278; e282] (AtMost e288 (U 1038));
  Claim [e290] e291;
  Claim [e290] e295;
  Claim [e290; e291; e295] (Either (Both e292 e292) (Both e294 e294));
  Claim [e290; e294; e291; e295] (Both (AtMost (Num_ 0) e299) (AtMost e299 (Num_ 24)));
  Claim [e290; e294; e291; e295] (Equal (U 119) (Shift (U 119) (Low e299 (Num_ 24))));
  Claim [e290; e294; e291; e295] (AtMost e25 (U 119));
  Claim [e277; e278; e282] e300;
  Claim [e277; e278; e282] (Either (Both (Is 1000) e283) (Both e280 e284));
  Claim [e290; e291; e295] e301;
  Claim [e290; e291; e295] e295;
  Claim [e280; e300; e301] (AtMost e286 e302);
  Claim [e280; e300; e301] (Equal (U 1065) (Minus e302 e286));
  Claim [] (Either (Equal (Times (Shift (U 1072) e303) (Num_ 1)) e304) (Both (Equal (Bits 0 1 (U 1072)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1072) (Num_ 1)) e303) (Num_ 1)) e304) (Less e304 (Times (Shift (Plus (U 1072) (Num_ 1)) e303) (Num_ 1))))));
  Claim [] (AtMost (U 1072) e305);
  Claim [e293; e300; e301] (AtMost e298 e302);
  Claim [e293; e300; e301] (Equal (U 1064) (Minus e302 e298));
  Claim [] (Either (Equal (Times (Shift (U 1079) e306) (Num_ 1)) e308) (Both (Equal (Bits 0 1 (U 1079)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1079) (Num_ 1)) e306) (Num_ 1)) e308) (Less e308 (Times (Shift (Plus (U 1079) (Num_ 1)) e306) (Num_ 1))))));
  Claim [] (AtMost (U 1079) e309);
  Claim [e300; e301] (Either (Both (Negation e280) (Both (Negation e293) e310)) (Either (Both e280 (Equal e286 e302)) (Either (Both e293 (Equal e298 e302)) e311)));
  Claim [e300; e301] e312;
  Claim [(Both (AtMost e313 (Sg 1087)) (AtMost (Sg 1087) e314))] (Equal (Sg 1088) (Sg 1087));
  Claim [(Both (AtMost e315 (Sg 1085)) (AtMost (Sg 1085) e305)); (Both (AtMost e316 (Sg 1086)) (AtMost (Sg 1086) e309))] (Equal (Sg 1087) (Plus (Sg 1085) (Sg 1086)));
  Claim [] (Equal (Sg 1085) (If (Is 995) (Minus (Num_ 0) (U 1072)) (U 1072)));
  Claim [] (Equal (Sg 1086) (If (Is 25) (Minus (Num_ 0) (U 1079)) (U 1079)));
  Claim [e317; e318; e312] e320;
  Claim [e321; e318; e312] e322;
  Claim [e321; (AtMost e324 e326); e318; e312] (Both (Equal (U 1195) (Shift e327 (Low (Minus e326 e324) (Num_ 24)))) e319);
  Claim [e321; e328; e318; e312] (Both (AtMost e330 e327) (Less e327 (Shift (Plus (U 1195) (Num_ 1)) e329)));
  Claim [e321; e328; e318; e312] (Either (Both (Is 1203) e334) (Both e319 (Negation e334)));
  Claim [] (Either (Both (Is 1224) e338) (Both e339 e340));
  Claim [e340; e341] (Both (Is 1228) (Either (Both (Is 1229) e337) (Both e342 (Negation e337))));
  Claim [e340; e343; e344; e345] (Either (Both (Is 1228) e352) (Both e353 e354));
  Claim [e340; e343; e344; e345] (Either (Both (Is 1229) e357) (Both e342 (Negation e357)));
  Claim [e354; e340; e343; e344; e345] (Equal (U 1209) (If e347 (Num_ 0) (If e351 e358 (If e349 e25 e346))));
  Claim [e354; e340; e343; e344; e345] (Equal e359 (If e347 e22 (If e351 (Num_ 127) (Plus e22 e350))));
  Claim [e360] e361;
  Claim [e360] e365;
  Claim [e360; e361; e365] (Either (Both e366 e362) (Both e367 e364));
  Claim [e360; e364; e361; e365] (Both (AtMost (Num_ 0) e369) (AtMost e369 (Num_ 48)));
  Claim [e360; e364; e361; e365] (Equal (U 1315) (Shift (U 1273) (Low e369 (Num_ 48))));
  Claim [e360; e364; e361; e365] (AtMost e288 (U 1315));
  Claim [e370] e371;
  Claim [e370] e375;
  Claim [e370; e371; e375] (Either (Both e376 e372) (Both e377 e374));
  Claim [e370; e374; e371; e375] (Both (AtMost (Num_ 0) e380) (AtMost e380 (Num_ 24)));
  Claim [e370; e374; e371; e375] (Equal (U 1351) (Shift (U 1209) (Low e380 (Num_ 24))));
  Claim [e370; e374; e371; e375] (AtMost e25 (U 1351));
  Claim [e360; e361; e365] e381;
  Claim [e360; e361; e365] (Either (Both (Is 1277) e366) (Both e363 e367));
  Claim [e370; e371; e375] e382;
  Claim [e370; e371; e375] (Either (Both (Is 1232) e376) (Both e373 e377));
  Claim [e363; e381; e382] (AtMost e368 e383);
  Claim [e363; e381; e382] (Equal (U 1368) (Minus e383 e368));
  Claim [] (Either (Equal (Times (Shift (U 1375) e384) (Num_ 1)) e385) (Both (Equal (Bits 0 1 (U 1375)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1375) (Num_ 1)) e384) (Num_ 1)) e385) (Less e385 (Times (Shift (Plus (U 1375) (Num_ 1)) e384) (Num_ 1))))));
  Claim [] (AtMost (U 1375) e305);
  Claim [e373; e381; e382] (AtMost e379 e383);
  Claim [e373; e381; e382] (Equal (U 1376) (Minus e383 e379));
  Claim [] (Either (Equal (Times (Shift (U 1383) e386) (Num_ 1)) e387) (Both (Equal (Bits 0 1 (U 1383)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1383) (Num_ 1)) e386) (Num_ 1)) e387) (Less e387 (Times (Shift (Plus (U 1383) (Num_ 1)) e386) (Num_ 1))))));
  Claim [] (AtMost (U 1383) e309);
  Claim [e381; e382] (Either (Both (Negation e363) (Both (Negation e373) e310)) (Either (Both e363 (Equal e368 e383)) (Either (Both e373 (Equal e379 e383)) e311)));
  Claim [e381; e382] e388;
  Claim [(Both (AtMost e313 (Sg 1392)) (AtMost (Sg 1392) e314))] (Equal (Sg 1393) (Sg 1392));
  Claim [(Both (AtMost e315 (Sg 1390)) (AtMost (Sg 1390) e305)); (Both (AtMost e316 (Sg 1391)) (AtMost (Sg 1391) e309))] (Equal (Sg 1392) (Plus (Sg 1390) (Sg 1391)));
  Claim [] (Equal (Sg 1390) (If (Is 1272) (Minus (Num_ 0) (U 1375)) (U 1375)));
  Claim [] (Equal (Sg 1391) (If (Is 1229) (Minus (Num_ 0) (U 1383)) (U 1383)));
  Claim [e389; e390; e388] e392;
  Claim [e393; e390; e388] e394;
  Claim [e393; (AtMost e395 e396); e390; e388] (Both (Equal (U 1497) (Shift e397 (Low (Minus e396 e395) (Num_ 24)))) e391);
  Claim [e393; e398; e390; e388] (Both (AtMost e400 e397) (Less e397 (Shift (Plus (U 1497) (Num_ 1)) e399)));
  Claim [e393; e398; e390; e388] (Either (Both (Is 1504) e404) (Both e391 (Negation e404)));
  Claim [] (Either (Both (Is 1530) e407) (Both e408 e409));
  Claim [e409; e410] (Both (Is 1534) (Either (Both (Is 1535) e406) (Both e411 (Negation e406))));
  Claim [e409; e412; e413; e414] (Either (Both (Is 1534) e421) (Both e422 e423));
  Claim [e409; e412; e413; e414] (Either (Both (Is 1535) e426) (Both e411 (Negation e426)));
  Claim [e423; e409; e412; e413; e414] (Equal (U 1510) (If e416 (Num_ 0) (If e420 e358 (If e418 e25 e415))));
  Claim [e423; e409; e412; e413; e414] (Equal e427 (If e416 e22 (If e420 (Num_ 127) (Plus e22 e419))));
  Claim [e428] e429;
  Claim [e428] e433;
  Claim [e428; e429; e433] (Either (Both e434 e430) (Both e435 e432));
  Claim [e428; e432; e429; e433] (Both (AtMost (Num_ 0) e437) (AtMost e437 (Num_ 48)));
  Claim [e428; e432; e429; e433] (Equal (U 1621) (Shift (U 1579) (Low e437 (Num_ 48))));
  Claim [e428; e432; e429; e433] (AtMost e288 (U 1621));
  Claim [e438] e439;
  Claim [e438] e443;
  Claim [e438; e439; e443] (Either (Both e444 e440) (Both e445 e442));
  Claim [e438; e442; e439; e443] (Both (AtMost (Num_ 0) e447) (AtMost e447 (Num_ 24)));
  Claim [e438; e442; e439; e443] (Equal (U 1657) (Shift (U 1510) (Low e447 (Num_ 24))));
  Claim [e438; e442; e439; e443] (AtMost e25 (U 1657));
  Claim [e428; e429; e433] e448;
  Claim [e428; e429; e433] (Either (Both (Is 1583) e434) (Both e431 e435));
  Claim [e438; e439; e443] e449;
  Claim [e438; e439; e443] (Either (Both (Is 1538) e444) (Both e441 e445));
  Claim [e431; e448; e449] (AtMost e436 e450);
  Claim [e431; e448; e449] (Equal (U 1673) (Minus e450 e436));
  Claim [] (Either (Equal (Times (Shift (U 1680) e451) (Num_ 1)) e452) (Both (Equal (Bits 0 1 (U 1680)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1680) (Num_ 1)) e451) (Num_ 1)) e452) (Less e452 (Times (Shift (Plus (U 1680) (Num_ 1)) e451) (Num_ 1))))));
  Claim [] (AtMost (U 1680) e305);
  Claim [e441; e448; e449] (AtMost e446 e450);
  Claim [e441; e448; e449] (Equal (U 1681) (Minus e450 e446));
  Claim [] (Either (Equal (Times (Shift (U 1688) e453) (Num_ 1)) e454) (Both (Equal (Bits 0 1 (U 1688)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1688) (Num_ 1)) e453) (Num_ 1)) e454) (Less e454 (Times (Shift (Plus (U 1688) (Num_ 1)) e453) (Num_ 1))))));
  Claim [] (AtMost (U 1688) e309);
  Claim [e448; e449] (Either (Both (Negation e431) (Both (Negation e441) e310)) (Either (Both e431 (Equal e436 e450)) (Either (Both e441 (Equal e446 e450)) e311)));
  Claim [e448; e449] e455;
  Claim [(Both (AtMost e313 (Sg 1697)) (AtMost (Sg 1697) e314))] (Equal (Sg 1698) (Sg 1697));
  Claim [(Both (AtMost e315 (Sg 1695)) (AtMost (Sg 1695) e305)); (Both (AtMost e316 (Sg 1696)) (AtMost (Sg 1696) e309))] (Equal (Sg 1697) (Plus (Sg 1695) (Sg 1696)));
  Claim [] (Equal (Sg 1695) (If (Is 1578) (Minus (Num_ 0) (U 1680)) (U 1680)));
  Claim [] (Equal (Sg 1696) (If (Is 1535) (Minus (Num_ 0) (U 1688)) (U 1688)));
  Claim [e456; e457; e455] e459;
  Claim [e460; e457; e455] e461;
  Claim [e460; (AtMost e462 e463); e457; e455] (Both (Equal (U 1801) (Shift e464 (Low (Minus e463 e462) (Num_ 24)))) e458);
  Claim [e460; e465; e457; e455] (Both (AtMost e467 e464) (Less e464 (Shift (Plus (U 1801) (Num_ 1)) e466)));
  Claim [e460; e465; e457; e455] (Either (Both (Is 1808) e471) (Both e458 (Negation e471)));
  Claim [] (Either (Both (Is 1834) e474) (Both e475 e476));
  Claim [e476; e477] (Both (Is 1838) (Either (Both (Is 1839) e473) (Both e478 (Negation e473))));
  Claim [e476; e479; e480; e481] (Either (Both (Is 1838) e488) (Both e489 e490));
  Claim [e476; e479; e480; e481] (Either (Both (Is 1839) e493) (Both e478 (Negation e493)));
  Claim [e490; e476; e479; e480; e481] (Equal (U 1814) (If e483 (Num_ 0) (If e487 e358 (If e485 e25 e482))));
  Claim [e490; e476; e479; e480; e481] (Equal e494 (If e483 e22 (If e487 (Num_ 127) (Plus e22 e486))));
  Claim [e495] e496;
  Claim [e495] e500;
  Claim [e495; e496; e500] (Either (Both e501 e497) (Both e502 e499));
  Claim [e495; e499; e496; e500] (Both (AtMost (Num_ 0) e504) (AtMost e504 (Num_ 48)));
  Claim [e495; e499; e496; e500] (Equal (U 1925) (Shift (U 1883) (Low e504 (Num_ 48))));
  Claim [e495; e499; e496; e500] (AtMost e288 (U 1925));
  Claim [e505] e506;
  Claim [e505] e510;
  Claim [e505; e506; e510] (Either (Both e511 e507) (Both e512 e509));
  Claim [e505; e509; e506; e510] (Both (AtMost (Num_ 0) e514) (AtMost e514 (Num_ 24)));
  Claim [e505; e509; e506; e510] (Equal (U 1961) (Shift (U 1814) (Low e514 (Num_ 24))));
  Claim [e505; e509; e506; e510] (AtMost e25 (U 1961));
  Claim [e495; e496; e500] e515;
  Claim [e495; e496; e500] (Either (Both (Is 1887) e501) (Both e498 e502));
  Claim [e505; e506; e510] e516;
  Claim [e505; e506; e510] (Either (Both (Is 1842) e511) (Both e508 e512));
  Claim [e498; e515; e516] (AtMost e503 e517);
  Claim [e498; e515; e516] (Equal (U 1977) (Minus e517 e503));
  Claim [] (Either (Equal (Times (Shift (U 1984) e518) (Num_ 1)) e519) (Both (Equal (Bits 0 1 (U 1984)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1984) (Num_ 1)) e518) (Num_ 1)) e519) (Less e519 (Times (Shift (Plus (U 1984) (Num_ 1)) e518) (Num_ 1))))));
  Claim [] (AtMost (U 1984) e305);
  Claim [e508; e515; e516] (AtMost e513 e517);
  Claim [e508; e515; e516] (Equal (U 1985) (Minus e517 e513));
  Claim [] (Either (Equal (Times (Shift (U 1992) e520) (Num_ 1)) e521) (Both (Equal (Bits 0 1 (U 1992)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1992) (Num_ 1)) e520) (Num_ 1)) e521) (Less e521 (Times (Shift (Plus (U 1992) (Num_ 1)) e520) (Num_ 1))))));
  Claim [] (AtMost (U 1992) e309);
  Claim [e515; e516] (Either (Both (Negation e498) (Both (Negation e508) e310)) (Either (Both e498 (Equal e503 e517)) (Either (Both e508 (Equal e513 e517)) e311)));
  Claim [e515; e516] e522;
  Claim [(Both (AtMost e313 (Sg 2001)) (AtMost (Sg 2001) e314))] (Equal (Sg 2002) (Sg 2001));
  Claim [(Both (AtMost e315 (Sg 1999)) (AtMost (Sg 1999) e305)); (Both (AtMost e316 (Sg 2000)) (AtMost (Sg 2000) e309))] (Equal (Sg 2001) (Plus (Sg 1999) (Sg 2000)));
  Claim [] (Equal (Sg 1999) (If (Is 1882) (Minus (Num_ 0) (U 1984)) (U 1984)));
  Claim [] (Equal (Sg 2000) (If (Is 1839) (Minus (Num_ 0) (U 1992)) (U 1992)));
  Claim [e523; e524; e522] e526;
  Claim [e527; e524; e522] e528;
  Claim [e527; (AtMost e529 e530); e524; e522] (Both (Equal (U 2105) (Shift e531 (Low (Minus e530 e529) (Num_ 24)))) e525);
  Claim [e527; e532; e524; e522] (Both (AtMost e534 e531) (Less e531 (Shift (Plus (U 2105) (Num_ 1)) e533)));
  Claim [e527; e532; e524; e522] (Either (Both (Is 2112) e538) (Both e525 (Negation e538)));
  Claim [] (Either (Both (Is 2138) e541) (Both e542 e543));
  Claim [e543; e544] (Both (Is 2142) (Either (Both (Is 2143) e540) (Both e545 (Negation e540))));
  Claim [e543; e546; e547; e548] (Either (Both (Is 2142) e555) (Both e556 e557));
  Claim [e543; e546; e547; e548] (Either (Both (Is 2143) e560) (Both e545 (Negation e560)));
  Claim [e557; e543; e546; e547; e548] (Equal (U 2118) (If e550 (Num_ 0) (If e554 e358 (If e552 e25 e549))));
  Claim [e557; e543; e546; e547; e548] (Equal e561 (If e550 e22 (If e554 (Num_ 127) (Plus e22 e553))));
  Claim [] e563;
  Claim [e562] e563;
  Claim [e562] e563;
  Claim [e562; e562] (Equal e296 e22);
  Claim [] e292;
  Claim [e564] (Either (Both (Is 2168) (Is 2138)) (Both e565 e542));
  Claim [e542; e564] (Either (Both (Is 2166) (Is 2142)) (Both e566 e556));
  Claim [e542; e564] (Either (Both (Is 2157) (Is 2143)) (Both e567 e545));
  Claim [e542; e556; e564] (Equal e568 e561);
  Claim [e542; e556; e564] (Equal (U 2161) (U 2118));
  Claim [e569] e570;
  Claim [e569] e574;
  Claim [e569; e570; e574] (Either (Both e575 e571) (Both e576 e573));
  Claim [e569; e573; e570; e574] (Both (AtMost (Num_ 0) e578) (AtMost e578 (Num_ 24)));
  Claim [e569; e573; e570; e574] (Equal (U 2210) (Shift (U 2161) (Low e578 (Num_ 24))));
  Claim [e569; e573; e570; e574] (AtMost e25 (U 2210));
  Claim [e579] e580;
  Claim [e579] e584;
  Claim [e579; e580; e584] (Either (Both e585 e581) (Both e586 e583));
  Claim [e579; e583; e580; e584] (Both (AtMost (Num_ 0) e588) (AtMost e588 (Num_ 24)));
  Claim [e579; e583; e580; e584] (Equal (U 2244) (Shift (U 2176) (Low e588 (Num_ 24))));
  Claim [e579; e583; e580; e584] (AtMost e25 (U 2244));
  Claim [e569; e570; e574] e589;
  Claim [e569; e570; e574] (Either (Both (Is 2164) e575) (Both e572 e576));
  Claim [e579; e580; e584] e590;
  Claim [e579; e580; e584] (Either (Both (Is 2179) e585) (Both e582 e586));
  Claim [e572; e589; e590] (AtMost e577 e591);
  Claim [e572; e589; e590] (Equal (U 2258) (Minus e591 e577));
  Claim [] (Either (Equal (Times (Shift (U 2265) e592) (Num_ 1)) e593) (Both (Equal (Bits 0 1 (U 2265)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 2265) (Num_ 1)) e592) (Num_ 1)) e593) (Less e593 (Times (Shift (Plus (U 2265) (Num_ 1)) e592) (Num_ 1))))));
  Claim [] (AtMost (U 2265) e594);
  Claim [e582; e589; e590] (AtMost e587 e591);
  Claim [e582; e589; e590] (Equal (U 2266) (Minus e591 e587));
  Claim [] (Either (Equal (Times (Shift (U 2273) e595) (Num_ 1)) e596) (Both (Equal (Bits 0 1 (U 2273)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 2273) (Num_ 1)) e595) (Num_ 1)) e596) (Less e596 (Times (Shift (Plus (U 2273) (Num_ 1)) e595) (Num_ 1))))));
  Claim [] (AtMost (U 2273) e594);
  Claim [e589; e590] (Either (Both (Negation e572) (Both (Negation e582) e310)) (Either (Both e572 (Equal e577 e591)) (Either (Both e582 (Equal e587 e591)) e311)));
  Claim [e589; e590] e597;
  Claim [(Both (AtMost e598 (Sg 2282)) (AtMost (Sg 2282) e599))] (Equal (Sg 2283) (Sg 2282));
  Claim [(Both (AtMost e600 (Sg 2280)) (AtMost (Sg 2280) e594)); (Both (AtMost e600 (Sg 2281)) (AtMost (Sg 2281) e594))] (Equal (Sg 2282) (Plus (Sg 2280) (Sg 2281)));
  Claim [] (Equal (Sg 2280) (If (Is 2157) (Minus (Num_ 0) (U 2265)) (U 2265)));
  Claim [] (Equal (Sg 2281) (If (Is 2172) (Minus (Num_ 0) (U 2273)) (U 2273)));
  Claim [e601; e602; e597] e604;
  Claim [e605; e602; e597] e606;
  Claim [e605; (AtMost e607 e608); e602; e597] (Both (Equal (U 2373) (Shift e609 (Low (Minus e608 e607) (Num_ 24)))) e603);
  Claim [e605; e610; e602; e597] (Both (AtMost e612 e609) (Less e609 (Shift (Plus (U 2373) (Num_ 1)) e611)));
  Claim [e605; e610; e602; e597] (Either (Both (Is 2381) e616) (Both e603 (Negation e616)));
  Claim [] (Either (Both (Is 2407) e619) (Both e620 e621));
  Claim [e621; e622] (Both (Is 2411) (Either (Both (Is 2412) e618) (Both e623 (Negation e618))));
  Claim [e621; e624; e625; e626] (Either (Both (Is 2411) e633) (Both e634 e635));
  Claim [e621; e624; e625; e626] (Either (Both (Is 2412) e638) (Both e623 (Negation e638)));
  Claim [e635; e621; e624; e625; e626] (Equal (U 2387) (If e628 (Num_ 0) (If e632 e358 (If e630 e25 e627))));
  Claim [e635; e621; e624; e625; e626] (Equal e639 (If e628 e22 (If e632 (Num_ 127) (Plus e22 e631))));
  Claim [(Is 2407)] (Equal (U 2424) (Num_ 2147483647));
  Claim [e620; (Is 2411)] (Equal (U 2424) (Times (Plus e640 (Num_ 2139095040)) (Num_ 1)));
  Claim [e620; e634; e621; e624; e625; e626] (Equal (U 2424) (Times (Plus e640 (If (Less e641 e25) e641 (Plus (Times (Plus e639 (Num_ 127)) e25) (Minus e641 e25)))) (Num_ 1)))].
Lemma checked : unit_ok unit_circuit unit_design plan = true. Proof. vm_compute. reflexivity. Qed.
Lemma claimed : unit_claims unit_circuit unit_design plan = certified. Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (root plan) = compute unit_design (words_in plan v).
Proof. rewrite <- claimed. exact (words_to_words _ _ _ checked). Qed.
