(** Parameters of sums that are rounded down that cannot matter: what overflows, signs of zeros, and which half of a block is
    first. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Again DownAgain Stages.
Import ListNotations.
Open Scope Z_scope.

(** * What the sum is converted to *)

(** Where [down_blocks_ok] holds, only zero is rounded to zero: zeros of the sum's sign are all +0. *)
Definition plain_down (d : design) (r : round_down) : round_down :=
  let c := out (products_sum r) in
  with_conversion r (plain_overflow (if down_blocks_ok d then with_zero_sign c Positive else c)).

Lemma plain_down_same d r x y : let c := out (products_sum r) in
  (down_blocks_ok d = true -> 0 <= p c /\ flushes c = false /\ unseen_sign c = true /\ down_bits r <= sum_bits r /\ partial_grid (emin c - p c) x /\ multiple (emin c - p c) y) ->
  add_c (plain_down d r) x y = add_c r x y.
Proof.
  intros c H. unfold plain_down. fold c. destruct (add_c_convert r x y) as [s [n [u [A [B G]]]]]. fold c in A, B. rewrite A, B.
  2, 3: unfold plain_overflow; destruct (down_blocks_ok d), (always_infinite _); reflexivity.
  rewrite plain_overflow_same. destruct (down_blocks_ok d); [|reflexivity]. destruct (H eq_refl) as [P [F [U [Bd [X Y]]]]].
  unfold convert. change (last_bit (with_zero_sign c Positive)) with (last_bit c). change (is_infinite (with_zero_sign c Positive)) with (is_infinite c).
  change (is_tiny (with_zero_sign c Positive)) with (is_tiny c). cbn [rho p emin emax flushes tiny zsign with_zero_sign]. rewrite F. cbn [andb]. rewrite orb_false_r.
  destruct (Z.eq_dec n 0) as [N|N].
  - rewrite N, round_div_0. cbn [Z.eqb negb]. unfold unseen_sign in U. now destruct (zsign c).
  - destruct (G _ Bd X Y) as [k Gk]. pose proof (never_zero c n u k P Gk N). destruct (Z.eqb_spec (round_div (rho c) n (last_bit c n u - u)) 0); easy.
Qed.

Lemma plain_down_sum d r us x : let c := out (products_sum r) in
  (down_blocks_ok d = true -> 0 <= p c /\ flushes c = false /\ unseen_sign c = true /\ down_bits r <= sum_bits r /\
    partial_grid (emin c - p c) (if two_sums r && (1 <? Z.of_nat (length us)) then sum_of_sides r (truncated r (evens us)) (truncated r (odds us)) else truncated r us) /\
    multiple (emin c - p c) x) ->
  round_down_sum (plain_down d r) us x = round_down_sum r us x.
Proof.
  intros c H. unfold round_down_sum. change (two_sums (plain_down d r)) with (two_sums r).
  assert (Hr : rho (out (products_sum (plain_down d r))) = rho c).
  { unfold plain_down. cbn [products_sum with_conversion out with_out]. rewrite plain_rho. now destruct (down_blocks_ok d). }
  assert (T : forall l, truncated (plain_down d r) l = truncated r l) by (intros l; unfold truncated; rewrite Hr; reflexivity).
  assert (Q : forall a b, sum_of_sides (plain_down d r) a b = sum_of_sides r a b) by (intros a b; unfold sum_of_sides; rewrite Hr; reflexivity).
  rewrite Q, !T. now apply plain_down_same.
Qed.

(** Numbers too large for the result, and zeros' signs: the same word at their plain values. *)
Theorem plain_down_idle d r w : sums d = RoundedDown r -> overflow_free d = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (RoundedDown (plain_down d r))) w.
Proof.
  intros S O N. unfold overflow_free in O. repeat rewrite andb_true_iff in O. destruct O as [[ON PO] B]. symmetry.
  set (c := out (products_sum r)). set (g := emin c - p c). set (d' := with_sums d _).
  assert (D : down_blocks_ok d = true -> exists t, term_facts d = Some t /\ 0 <= p c /\ emin c <= emax c /\ flushes c = false /\ unseen_sign c = true /\
    carry_bits (products_sum r) = None /\ down_bits r <= sum_bits r /\ g <= low t - bits t /\ g <= least (start_format d) - fbits (start_format d) /\
    format_ok (start_format d) = true /\ cutting_of d = Whole /\ c_rule d = Kept /\ skips d = false).
  { unfold down_blocks_ok. rewrite S. destruct (term_facts d) as [t|]; [|easy]. cbv zeta. fold c g. intros O. repeat rewrite andb_true_iff in O.
    destruct O as [[[[[[[[[[[[[P M] F] U] K] Zn] Hb] Pd] Bd] G1] G2] Oc] Cu] Sk]. exists t. apply negb_true_iff in F, Sk. apply Z.leb_le in P, M, Bd, G1, G2.
    destruct (carry_bits (products_sum r)); [easy|]. destruct (cutting_of d), (c_rule d); try easy; repeat split; auto. }
  apply (compute_alike d d' (fun v => down_blocks_ok d = true -> forall x, v = Num x -> multiple g x)); try exact ON; try exact PO; try exact N; [repeat split|lia| |].
  - intros b v L Mb Cv. split.
    + unfold block_value. change (skipped d' b) with (skipped d b). destruct (skipped d b); [reflexivity|].
      assert (T : terms d' (ordered d b) = terms d (ordered d b)) by (unfold terms, d'; cbn [cutting_of sums with_sums]; rewrite S; reflexivity).
      change (ordered d' b) with (ordered d b). rewrite T. change (taken_c d' v) with (taken_c d v). change (sums d') with (RoundedDown (plain_down d r)).
      rewrite S. cbn [block_sum]. unfold on_numbers. destruct (numbers _) as [ts|] eqn:Nu; [|reflexivity].
      apply plain_down_sum. intros Ok. destruct (D Ok) as [t [Tf [P [M [F [U [K [Bd [G1 [G2 [Of [Cu [Kc Sk]]]]]]]]]]]]]. fold c g. repeat split; auto.
      * assert (Tp : fst (terms d (ordered d b)) = block_products d b) by (unfold terms, block_products; now rewrite Cu). rewrite Tp in *.
        destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ev Eu]]]]. pose proof (down_grids d r t (taken_c d v) b us x Tf G1 K Mb Nu) as G.
        fold c g in G. rewrite Eu, map_map. cbn [num_of]. now rewrite map_id.
      * destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ev Eu]]]]. rewrite Ev. cbn [num_of]. rewrite taken_kept, Kc, flush_kept in Ev by (eapply term_facts_zero; eauto). auto.
    + intros Ok x Hx. destruct (D Ok) as [t [_ [P [M _]]]]. destruct (down_result d r v b S Ok Mb (Cv Ok) x Hx) as [s0 [n0 [u0 [H _]]]].
      now apply (Signs.convert_multiple c s0 n0 u0).
  - intros Ok x Hx. destruct (D Ok) as [t [_ [P [M [_ [_ [_ [_ [_ [G2 [Of _]]]]]]]]]]]. destruct (decode_num _ _ _ Of Hx) as [_ [Fr [Le _]]].
    unfold multiple, V, lsb. rewrite Fr. apply scaled_multiple. lia.
Qed.

(** * Which half is first *)

Lemma swapped_halves {A} (l : list A) : Nat.even (length l) = true -> evens (swapped l) = odds l /\ odds (swapped l) = evens l.
Proof.
  assert (G : forall n (l : list A), (length l <= n)%nat -> Nat.even (length l) = true -> evens (swapped l) = odds l /\ odds (swapped l) = evens l).
  { induction n as [|n IH]; intros m L E; destruct m as [|x [|y r]]; try easy; cbn [length] in L; try lia. cbn [length Nat.even] in E.
    destruct (IH r ltac:(lia) E) as [A1 A2]. unfold evens, odds in *. cbn [swapped tl every_second]. split; [|f_equal].
    - destruct r as [|z [|t r]]; try easy. cbn [swapped tl every_second] in *. congruence.
    - destruct r as [|z [|t r]]; try easy. cbn [swapped tl every_second] in *. congruence. }
  intros E. now apply (G (length l)).
Qed.

Lemma sides_swapped r x y : sum_of_sides r x y = sum_of_sides r y x.
Proof.
  assert (M : omax (Design.top x) (Design.top y) = omax (Design.top y) (Design.top x)) by (destruct (Design.top x), (Design.top y); cbn; auto; f_equal; lia).
  unfold sum_of_sides. rewrite M. cbv zeta. set (u := match omax _ _ with Some e => e - _ | None => 0 end). rewrite (Z.add_comm (round_div RD (count x) _)).
  f_equal. apply sign_of_perm; apply perm_swap.
Qed.

Lemma cut_even {A} n m (l : list A) : Nat.even n = true -> Nat.even (length l) = true -> Forall (fun b => Nat.even (length b) = true) (cut_list m n l).
Proof.
  intros En. revert l. induction m as [|m IH]; intros l El; [constructor|]. destruct l as [|x l]; [constructor|]. cbn [cut_list]. set (q := x :: l) in *. constructor.
  - rewrite firstn_length. destruct (Nat.min_spec n (length q)) as [[_ ->]|[_ ->]]; auto.
  - apply IH. rewrite skipn_length. destruct (Nat.le_gt_cases n (length q)) as [L|L]; [rewrite Nat.even_sub, En, El by lia; reflexivity|].
    replace (length q - n)%nat with 0%nat by lia. reflexivity.
Qed.

Definition halves_free (d : design) : bool :=
  one_nan d && Nat.even (block d) && match cutting_of d, composed d with Whole, None => true | _, _ => false end.

(** Of blocks in two halves, each with half of the products, either half is first. *)
Theorem halves_order_idle d r w : sums d = RoundedDown r -> halves_free d = true -> pairs w <> [] -> Nat.even (length (pairs w)) = true ->
  compute d w = compute (with_order d false) w.
Proof.
  intros S O N Ev. unfold halves_free in O. repeat rewrite andb_true_iff in O. destruct O as [[ON B] Cu].
  destruct (cutting_of d) eqn:Cd; try easy. destruct (composed d) eqn:Co; [easy|].
  rewrite !compute_word by auto. change (the_nan (with_order d false)) with (the_nan d). change (d_format (with_order d false)) with (d_format d). f_equal.
  unfold value. change (composed (with_order d false)) with (composed d). rewrite Co. change (elements (with_order d false) w) with (elements d w).
  change (c_format (with_order d false)) with (c_format d). unfold values. change (block (with_order d false)) with (block d).
  assert (F : Forall (fun b => Nat.even (length b) = true) (cut_list (length (elements d w)) (block d) (elements d w))).
  { apply cut_even; auto. now rewrite elements_length. }
  generalize (decode (c_format d) (c_word w)) as v. induction F as [|b l Hb F IH]; intros v; [reflexivity|]. cbn [fold_left]. rewrite IH. f_equal.
  unfold block_value. change (skipped (with_order d false) b) with (skipped d b). destruct (skipped d b); [reflexivity|].
  change (sums (with_order d false)) with (sums d). change (taken_c (with_order d false) v) with (taken_c d v). rewrite S. cbn [block_sum].
  unfold ordered. cbn [odd_first with_order]. destruct (odd_first d) eqn:Od; [|reflexivity].
  unfold terms. change (cutting_of (with_order d false)) with (cutting_of d). rewrite Cd. cbn [fst].
  set (one := fun x => scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)). set (k := taken_c d v).
  change (on_numbers (fun _ => round_down_sum r (map num_of (map one (swapped b))) (num_of k)) (map one (swapped b) ++ [k]) =
          on_numbers (fun _ => round_down_sum r (map num_of (map one b)) (num_of k)) (map one b ++ [k])).
  apply on_numbers_perm; [apply Permutation_app_tail, Permutation_map, swapped_perm|]. intros _ _ _. unfold round_down_sum.
  rewrite !map_length, swapped_length, !evens_map, !odds_map. destruct (swapped_halves b Hb) as [-> ->]. rewrite sides_swapped.
  destruct (two_sums r); cbn [andb]; [destruct (1 <? Z.of_nat (length b)); [reflexivity|]|];
    now rewrite (truncated_perm r _ (map num_of (map one b))) by (do 2 apply Permutation_map; apply swapped_perm).
Qed.
