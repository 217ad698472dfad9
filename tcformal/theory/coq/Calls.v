(** One call of a unit, and compositions of calls: the relative error from c = 0, sums of integers. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Losses Accumulated Trees FromZero.
Import ListNotations.
Open Scope R_scope.

(** * The blocks of a call, those of a composition's parts in turn *)

Definition all_blocks (d : design) (w : words) : list (list element) :=
  match composed d with
  | None => blocks_of_word d w
  | Some how => concat (map (fun k => let xs := map (at_k (elements d w)) k in cut_list (length xs) (block d) xs) (parts how))
  end.

Lemma parts_in_turn d xs ks : forall v, parts_value d xs ks v =
  in_turn d (concat (map (fun k => let ys := map (at_k xs) k in cut_list (length ys) (block d) ys) ks)) v.
Proof.
  unfold parts_value, in_turn. induction ks as [|k r IH]; intros v; [reflexivity|]. cbn [fold_left map concat].
  rewrite fold_left_app, IH. reflexivity.
Qed.

Lemma all_blocks_made d w : (0 < block d)%nat -> parts_ok d = true -> Forall (fun b => (length b <= block d)%nat /\ Forall (made_by d) b) (all_blocks d w).
Proof.
  intros Bn Po. pose proof (elements_made d w) as Mm. unfold all_blocks. destruct (composed d) as [how|] eqn:Co; [|now apply cut_list_blocks].
  apply Forall_forall. intros b Hb. apply in_concat in Hb. destruct Hb as [bs [Hbs Hb]]. apply in_map_iff in Hbs. destruct Hbs as [k [<- _]].
  cbv zeta in Hb. pose proof (cut_list_blocks (made_by d) (block d) Bn (length (map (at_k (elements d w)) k)) (map (at_k (elements d w)) k)) as G.
  assert (M : Forall (made_by d) (map (at_k (elements d w)) k)).
  { apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- _]]. apply at_k_made; auto.
    left. unfold parts_ok in Po. rewrite Co in Po. now destruct (scales d). }
  specialize (G M). rewrite Forall_forall in G. now apply G.
Qed.

Lemma all_blocks_ok d w : (0 < block d)%nat -> parts_ok d = true -> Forall (leading_element d) (concat (all_blocks d w)) ->
  Forall (block_ok d) (all_blocks d w).
Proof.
  intros Bn Po Le. pose proof (all_blocks_made d w Bn Po) as A.
  apply Forall_forall. intros b Hb. rewrite Forall_forall in A. destruct (A b Hb) as [A1 A2]. split; auto. split; auto.
  apply Forall_forall. intros e He. rewrite Forall_forall in Le. apply Le. apply in_concat. eauto.
Qed.

(** * Compositions: the parts' sum from +0, and c added to it by a sum that is exact and then rounded *)

Definition composition_ok (d : design) : bool :=
  match composed d with
  | Some how => match of_sum how, of_c how with Kept, Kept => true | _, _ => false end && exact_node (addition how) &&
      is_num (decode (d_format d) 0) && is_zero (num_of (decode (d_format d) 0))
  | None => false
  end.

(** What the addition of c loses at most. *)
Definition last_share (d : design) : R := match composed d with Some how => share (out (addition how)) | None => 0 end.
Definition last_loss (d : design) : R := match composed d with Some how => flush_loss (out (addition how)) | None => 0 end.

(** One call from the value of c, and calls one after the other. *)
Definition call (d : design) (xs : list element) (v : val) : val :=
  match composed d with
  | None => values d xs v
  | Some how => sum_values (addition how) [flush (of_sum how) (parts_value d xs (parts how) (decode (d_format d) 0)); flush (of_c how) v]
  end.
Definition calls (d : design) (l : list words) (v : val) : val := fold_left (fun v w => call d (elements d w) v) l v.

Lemma value_call d w : value d w = call d (elements d w) (decode (c_format d) (c_word w)).
Proof. unfold value, call. now destruct (composed d). Qed.

(** Calls whose parts' sums lose C of their products' magnitudes and J at most. *)
Section Composition.
Variables (d : design) (value_in : element -> R) (usable : words -> Prop) (part_sum : num -> Prop) (C J K : R).
Let S (w : words) := Rsum (map value_in (concat (all_blocks d w))).
Let A (w : words) := Rsum (map (fun e => Rabs (value_in e)) (concat (all_blocks d w))).
Hypothesis (Oc : composition_ok d = true) (C0 : 0 <= C) (J0 : 0 <= J)
  (Parts : forall w x r, usable w -> decode (d_format d) 0 = Num x -> is_zero x = true -> in_turn d (all_blocks d w) (Num x) = Num r ->
    Rabs (V r - S w) <= C * A w + J /\ part_sum r).

Lemma call_sum w v z : usable w -> call d (elements d w) v = Num z ->
  exists r x how, v = Num x /\ composed d = Some how /\ sum_numbers (addition how) [r; x] = Num z /\ part_sum r /\
    Rabs (V r - S w) <= C * A w + J /\ Rabs (S w) <= A w /\ Rabs (V z - (V r + V x)) <= last_share d * (Rabs (V r) + Rabs (V x)) + last_loss d.
Proof.
  intros Us E. pose proof Oc as Q. unfold composition_ok in Q. unfold call in E. unfold last_share, last_loss.
  destruct (composed d) as [how|] eqn:Co; [|easy]. repeat rewrite andb_true_iff in Q. destruct Q as [[[Kk Ex] Nm] Z0].
  destruct (of_sum how) eqn:Os; try easy. destruct (of_c how) eqn:Of; try easy. rewrite !flush_kept, parts_in_turn in E.
  assert (Ab : in_turn d (concat (map (fun k => let ys := map (at_k (elements d w)) k in cut_list (length ys) (block d) ys) (parts how))) =
    in_turn d (all_blocks d w)) by (unfold all_blocks; now rewrite Co). rewrite Ab in E. clear Ab.
  destruct (decode (d_format d) 0) as [x0| |] eqn:D0; try easy. cbn [num_of] in Z0.
  destruct (sum_values_inv _ _ _ E) as [ts Et]. destruct ts as [|r [|x [|? ?]]]; try easy. injection Et as Er Ev.
  rewrite Er, Ev in E. change [Num r; Num x] with (map Num [r; x]) in E. rewrite sum_values_num in E.
  destruct (Parts w x0 r Us eq_refl Z0 Er) as [P1 P2]. exists r, x, how. repeat (split; [assumption || reflexivity|]). split.
  { unfold S, A. clear. induction (concat (all_blocks d w)); cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. }
  pose proof (exact_node_loss _ _ _ Ex E) as L. unfold exact_sum, magnitude in L. cbn [map Rsum fold_right] in L. now rewrite !Rplus_0_r in L.
Qed.

Lemma last_pos : 0 <= last_share d /\ 0 <= last_loss d.
Proof.
  unfold last_share, last_loss. destruct (composed d) as [how|]; [|lra]. pose proof (share_pos (out (addition how))). pose proof (flush_loss_pos (out (addition how))). lra.
Qed.

Lemma error_of_call w z x : usable w -> decode (c_format d) (c_word w) = Num x -> value d w = Num z ->
  Rabs (V z - (V x + S w)) <= ((1 + C) * (1 + last_share d) - 1) * (Rabs (V x) + A w) + ((1 + last_share d) * J + last_loss d).
Proof.
  intros Us Dc Vz. rewrite value_call, Dc in Vz. destruct (call_sum w _ _ Us Vz) as [r [x' [how [Ex [_ [_ [_ [G [SA L]]]]]]]]]. injection Ex as <-.
  pose proof (growth_step (last_share d) (last_loss d) (V r) _ _ C J (V z) (V x) (Rabs (V x)) (proj1 last_pos) C0 (Rabs_pos _) SA G) as GS.
  replace (V x + S w) with (S w + V x) by ring. replace (Rabs (V x) + A w) with (A w + Rabs (V x)) by ring. now apply GS.
Qed.

(** A c = 0 is added with a loss of K. *)
Hypothesis (K0 : 0 <= K)
  (Keep : forall how r x z, composed d = Some how -> part_sum r -> V x = 0 -> sum_numbers (addition how) [r; x] = Num z -> Rabs (V z - V r) <= K).

Lemma error_of_calls l z x : V x = 0 -> Forall usable l -> calls d l (Num x) = Num z ->
  let u := last_share d in let n := Nat.pred (length l) in
  Rabs (V z - Rsum (map S l)) <= ((1 + C) * (1 + u) ^ n - 1) * Rsum (map A l) + ((1 + u) ^ n * (J + K) + ((1 + u) * J + last_loss d) * geometric u n).
Proof.
  intros X F E u n. destruct last_pos as [u0 h0]. fold u in u0. set (h' := last_loss d) in *.
  assert (Nn : forall l v, is_num v = false -> calls d l v = Num z -> False).
  { clear -Oc. induction l as [|w' l IH]; intros v Hv Ev; [cbn in Ev; subst; easy|]. cbn [calls fold_left] in Ev.
    apply (IH (call d (elements d w') v)); [|exact Ev]. destruct (call d (elements d w') v) as [y| |] eqn:Q; auto. exfalso.
    unfold call in Q. unfold composition_ok in Oc. destruct (composed d) as [how|]; [|easy]. repeat rewrite andb_true_iff in Oc. destruct Oc as [[[Kk _] _] _].
    destruct (of_sum how); try easy. destruct (of_c how); try easy. rewrite !flush_kept in Q. destruct (sum_values_inv _ _ _ Q) as [ts Et].
    destruct ts as [|r0 [|x0 [|? ?]]]; try easy. injection Et as _ Et. subst. easy. }
  destruct l as [|w l].
  - cbn in E. injection E as <-. unfold n. cbn. rewrite X, Rminus_0_r, Rabs_R0. lra.
  - apply Forall_cons_iff in F. destruct F as [Us F]. unfold calls in E. cbn [fold_left] in E. fold (calls d l (call d (elements d w) (Num x))) in E.
    destruct (call d (elements d w) (Num x)) as [y| |] eqn:Ey; [|exfalso; eapply Nn; eauto; easy|exfalso; eapply Nn; eauto; easy].
    destruct (call_sum w _ _ Us Ey) as [r [x' [how [Ex [Co [Sn [Pr [G [SA _]]]]]]]]]. injection Ex as <-. pose proof (Keep how r x y Co Pr X Sn) as Z.
    assert (G1 : Rabs (V y - S w) <= C * A w + (J + K)).
    { replace (V y - S w) with ((V y - V r) + (V r - S w)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    (* the other calls *)
    assert (Rest : forall l y S0 A0 D H, Forall usable l -> C <= D -> 0 <= H -> Rabs S0 <= A0 -> Rabs (V y - S0) <= D * A0 + H -> calls d l (Num y) = Num z ->
      Rabs (V z - (S0 + Rsum (map S l))) <= ((1 + D) * (1 + u) ^ length l - 1) * (A0 + Rsum (map A l)) +
        ((1 + u) ^ length l * H + ((1 + u) * J + h') * geometric u (length l))).
    { clear -Oc Parts C0 J0 u0 h0 Nn. induction l as [|w l IH]; intros y S0 A0 D H F CD H0 SA Ey E.
      - cbn in E. injection E as <-. cbn. rewrite !Rplus_0_r, !Rmult_1_r, Rmult_0_r, Rmult_1_l, Rplus_0_r.
        replace (1 + D - 1) with D by ring. exact Ey.
      - apply Forall_cons_iff in F. destruct F as [Us F]. unfold calls in E. cbn [fold_left] in E. fold (calls d l (call d (elements d w) (Num y))) in E.
        destruct (call d (elements d w) (Num y)) as [v| |] eqn:Ev; [|exfalso; eapply Nn; eauto; easy|exfalso; eapply Nn; eauto; easy].
        destruct (call_sum w _ _ Us Ev) as [r [y' [how [Ex [_ [_ [_ [G [SB L]]]]]]]]]. injection Ex as <-. fold u h' in L.
        set (sw := S w) in *. set (aw := A w) in *.
        assert (aw0 : 0 <= aw) by (pose proof (Rabs_pos sw); lra). assert (A00 : 0 <= A0) by (pose proof (Rabs_pos S0); lra).
        assert (Gr : Rabs (V r - sw) <= D * aw + J).
        { eapply Rle_trans; [exact G|]. apply Rplus_le_compat_r. apply Rmult_le_compat_r; auto. }
        assert (R1 : Rabs (V r) <= aw + D * aw + J).
        { replace (V r) with (sw + (V r - sw)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
        assert (Y1 : Rabs (V y) <= A0 + D * A0 + H).
        { replace (V y) with (S0 + (V y - S0)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
        assert (Sv : Rabs (V v - (S0 + sw)) <= ((1 + D) * (1 + u) - 1) * (A0 + aw) + ((1 + u) * H + ((1 + u) * J + h'))).
        { replace (V v - (S0 + sw)) with ((V v - (V r + V y)) + ((V r - sw) + (V y - S0))) by ring. eapply Rle_trans; [apply Rabs_triang|].
          pose proof (Rabs_triang (V r - sw) (V y - S0)). pose proof (Rmult_le_compat_l u _ _ u0 R1). pose proof (Rmult_le_compat_l u _ _ u0 Y1). nra. }
        cbn [map]. rewrite !Rsum_cons. fold sw aw. assert (J' : 0 <= (1 + u) * J + h') by nra.
        assert (Q : Rabs (V z - (S0 + sw + Rsum (map S l))) <= ((1 + ((1 + D) * (1 + u) - 1)) * (1 + u) ^ length l - 1) * (A0 + aw + Rsum (map A l)) +
          ((1 + u) ^ length l * ((1 + u) * H + ((1 + u) * J + h')) + ((1 + u) * J + h') * geometric u (length l))).
        { apply (IH v); auto. nra. nra. eapply Rle_trans; [apply Rabs_triang|]. lra. }
        replace (S0 + (sw + Rsum (map S l))) with (S0 + sw + Rsum (map S l)) by ring.
        eapply Rle_trans; [exact Q|]. apply Req_le. cbn [length pow geometric]. ring. }
    cbn [map]. rewrite !Rsum_cons. unfold n. cbn [length Nat.pred]. apply (Rest l y (S w) (A w) C (J + K)); auto; lra.
Qed.
End Composition.

(** * The relative error from c = 0 *)

(** What products lose beside each other in a first block: [lam] 4096ths of a unit, or nothing where all are near. *)
Definition alone_share (d : design) (s : sum) (f lam : Z) : bool :=
  (0 <=? lam)%Z && (lam <=? 4096)%Z &&
  (share_ok d (alignment s) lam || near_ok d f && match scales d with Some (_, n) => (block d <=? n)%nat | None => true end).

Lemma numbered_firstn {A} (l : list A) : forall m i k x, In (k, x) (firstn m (numbered i l)) -> (k < i + m)%nat.
Proof.
  induction l as [|a l IH]; intros m i k x H; destruct m as [|m]; cbn in H; try easy.
  destruct H as [H|H]; [injection H as <- _; lia|]. apply IH in H. lia.
Qed.

Lemma first_alone d s t f lam w b bs : term_facts d = Some t -> parts_ok d = true -> alone_share d s f lam = true ->
  Forall (made_by d) b -> all_blocks d w = b :: bs -> alone_ok d s f lam b.
Proof.
  intros T P A Mb Eb. unfold alone_share in A. repeat rewrite andb_true_iff in A. destruct A as [[A0 A1] A]. apply Z.leb_le in A0, A1.
  split; auto. apply orb_prop in A. destruct A as [A|A]; [now left|]. right. apply andb_prop in A. destruct A as [N Sc].
  unfold all_blocks in Eb. unfold parts_ok in P.
  destruct (scales d) as [[g n]|] eqn:Es.
  - destruct (composed d) eqn:Co; [easy|]. apply Nat.leb_le in Sc.
    set (s0 := nth 0 (scale_words w) (0, 0)%Z). apply (near_formats d t f b [decode g (fst s0); decode g (snd s0)] T N); auto.
    unfold blocks_of_word in Eb. destruct (elements d w) as [|e0 l] eqn:El; [easy|].
    cbn [length cut_list] in Eb. injection Eb as Eb _. apply Forall_forall. intros e He.
    assert (Hf : In e (firstn (block d) (elements d w))) by (rewrite El, Eb; exact He).
    unfold elements in Hf. rewrite firstn_map in Hf. apply in_map_iff in Hf. destruct Hf as [[k [a b']] [<- Hk]]. cbn [scaled_by].
    apply numbered_firstn in Hk. rewrite Es. rewrite Nat.div_small by lia. reflexivity.
  - apply (near_formats d t f b [] T N); auto. apply Forall_forall. intros e He. rewrite Forall_forall in Mb. specialize (Mb e He).
    unfold made_by in Mb. now rewrite Es in Mb.
Qed.

(** The side condition of a design alone. *)
Definition from_zero_ok (d : design) (f lam lam0 : Z) : bool :=
  relative_ok d f lam && parts_ok d && match sum_of d with Some s => alone_share d s f lam0 | None => false end.

Section FromZero.
Variables (d : design) (s : sum) (f lam lam0 : Z).
Hypothesis (Hs : sum_of d = Some s) (O : from_zero_ok d f lam lam0 = true).
Let k := kappa s f (units (IZR lam * / 4096) (Z.of_nat (block d))).
Let h := eta s f (floor_of d s) (all_units (Z.of_nat (block d))).
Let k0 := kappa s f (units_alone (IZR lam0 * / 4096) (Z.of_nat (block d))).

Lemma from_zero_parts : exists t, term_facts d = Some t /\ relative_ok d f lam = true /\ parts_ok d = true /\ alone_share d s f lam0 = true /\
  (0 < block d)%nat /\ c_rule d = Kept /\ 0 <= k /\ 0 <= k0 /\ 0 <= h /\ plain (out s) = true.
Proof.
  unfold from_zero_ok in O. rewrite Hs in O. repeat rewrite andb_true_iff in O. destruct O as [[R P] A].
  destruct (term_facts d) as [t|] eqn:T; [|unfold relative_ok in R; rewrite Hs, T in R; easy]. exists t.
  pose proof R as R'. unfold relative_ok in R'. rewrite Hs, T in R'. repeat rewrite andb_true_iff in R'.
  destruct R' as [[[[[[[[[Tr B1] B0] Of] Bn] Sh] L0] L1] Ck] Of1]. apply Z.leb_le in L0. apply IZR_le in L0.
  unfold truncated_ok in Tr. repeat rewrite andb_true_iff in Tr. destruct Tr as [[[[[[[[[Pl _] _] _] _] _] _] _] _] _].
  assert (A0 : 0 <= IZR lam0).
  { unfold alone_share in A. repeat rewrite andb_true_iff in A. destruct A as [[A0 _] _]. apply Z.leb_le in A0. now apply IZR_le in A0. }
  split; [reflexivity|]. split; [exact R|]. split; [exact P|]. split; [exact A|]. split; [lia|]. split; [now destruct (c_rule d)|].
  split; [apply kappa_pos, units_pos; lra|]. split; [apply kappa_pos, units_alone_pos; lra|]. split; [|exact Pl].
  apply eta_pos. unfold all_units. assert (0 <= IZR (Z.of_nat (block d))) by (apply IZR_le; lia). lra.
Qed.

(** The blocks of a call from +0, one after the other; their results are numbers of the sum's format. *)
Lemma call_from_zero w x z : is_zero x = true -> decode (start_format d) (match composed d with None => c_word w | Some _ => 0%Z end) = Num x ->
  Forall (leading_element d) (concat (all_blocks d w)) -> in_turn d (all_blocks d w) (Num x) = Num z ->
  let m := Nat.pred (length (all_blocks d w)) in
  Rabs (V z - Rsum (map (term_value d) (concat (all_blocks d w)))) <=
    ((1 + k0) * (1 + k) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w))) +
    ((1 + k) ^ m * h + h * geometric k m) /\ (V z = 0 \/ generic_format radix2 (flt (out s)) (V z)).
Proof.
  intros Zx D Le R. destruct from_zero_parts as [t [T [Rk [P [A [Bn [Ck [K0 [K00 [H0 Pl]]]]]]]]]].
  pose proof (all_blocks_ok d w Bn P Le) as F. destruct (all_blocks d w) as [|b bs] eqn:Eb.
  - cbn in R. injection R as <-. cbn. rewrite (V_zero x Zx), Rminus_0_r, Rabs_R0. split; [nra|now left].
  - cbn [length Nat.pred]. split.
    + assert (Fx : fit_c f (floor_of d s) (low_of d t s) x).
      { eapply (start_fit d s t f lam); eauto using zero_settled. }
      assert (Al : alone_ok d s f lam0 b).
      { eapply first_alone; eauto. apply Forall_cons_iff in F. apply F. }
      pose proof (blocks_from_zero d s t f lam lam0 b bs x z Hs T Rk F Al Fx Zx R) as G. exact G.
    + right. clear -R Hs Ck T Pl. revert R. unfold in_turn. set (v := Num x). clearbody v. generalize dependent v.
      assert (One : forall v b, block_value d v b = Num z -> generic_format radix2 (flt (out s)) (V z)).
      { intros v b0 E. rewrite (block_value_one d s) in E by auto. destruct (sum_values_inv _ _ _ E) as [ts Et].
        rewrite Et, sum_values_num in E. unfold sum_numbers in E. rewrite (convert_num _ _ _ _ _ Pl E). pose proof (plain_p _ Pl).
        pose proof (flt_valid (out s) H). apply generic_format_round; auto with typeclass_instances. }
      revert b. induction bs as [|b' r IH]; intros b v R; cbn [fold_left] in R; [eapply One; eauto|]. eapply IH; eauto.
Qed.

(** For all words whose products have leading bits, c = 0 and m blocks: |d - exact| <= ((1 + kappa_0) (1 + kappa)^(m-1) - 1) Σ|terms|
    and what counts only beside subnormal results. *)
Theorem relative_error_from_zero w z x :
  composed d = None -> decode (c_format d) (c_word w) = Num x -> is_zero x = true -> Forall (leading_element d) (elements d w) ->
  value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - Rsum (map (term_value d) (elements d w))) <=
    ((1 + k0) * (1 + k) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (elements d w)) +
    ((1 + k) ^ m * h + h * geometric k m).
Proof.
  intros Co Dc Zx Le Vz. destruct from_zero_parts as [t [_ [_ [_ [_ [Bn _]]]]]].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  pose proof (call_from_zero w x z Zx) as G. unfold all_blocks, start_format in G. rewrite Co, Cc in G.
  unfold value in Vz. rewrite Co, Dc in Vz. now apply G.
Qed.

(** ** Compositions *)

Lemma power_pos m : 0 <= (1 + k0) * (1 + k) ^ m - 1 /\ 0 <= (1 + k) ^ m * h + h * geometric k m.
Proof.
  destruct from_zero_parts as [t [_ [_ [_ [_ [_ [_ [K0 [K00 [H0 _]]]]]]]]]]. pose proof (pow_ge_1 k m K0). pose proof (geometric_pos k m K0). split; [nra|].
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
Qed.

Lemma composed_start : composition_ok d = true -> start_format d = d_format d /\ exists how, composed d = Some how /\ exact_node (addition how) = true.
Proof.
  unfold composition_ok, start_format. destruct (composed d) as [how|]; [|easy]. intros Q. split; [reflexivity|]. exists how. split; [reflexivity|].
  repeat rewrite andb_true_iff in Q. apply Q.
Qed.

Definition in_sum_format (r : num) : Prop := V r = 0 \/ generic_format radix2 (flt (out s)) (V r).

Lemma parts_from_zero w x r : composition_ok d = true -> decode (d_format d) 0 = Num x -> is_zero x = true ->
  Forall (leading_element d) (concat (all_blocks d w)) -> in_turn d (all_blocks d w) (Num x) = Num r ->
  let m := Nat.pred (length (all_blocks d w)) in
  Rabs (V r - Rsum (map (term_value d) (concat (all_blocks d w)))) <=
    ((1 + k0) * (1 + k) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w))) +
    ((1 + k) ^ m * h + h * geometric k m) /\ in_sum_format r.
Proof.
  intros Oc D Zx Le R. destruct (composed_start Oc) as [St [how [Co _]]]. apply call_from_zero with x; auto. now rewrite St, Co.
Qed.

(** C of the parts' sum, m blocks after the first, and any c: |d - exact| <= ((1 + C) (1 + u) - 1) (|c| + Σ|terms|). *)
Theorem relative_error_of_call w z x :
  composition_ok d = true -> decode (c_format d) (c_word w) = Num x -> Forall (leading_element d) (concat (all_blocks d w)) -> value d w = Num z ->
  let m := Nat.pred (length (all_blocks d w)) in
  let C := (1 + k0) * (1 + k) ^ m - 1 in
  let J := (1 + k) ^ m * h + h * geometric k m in
  Rabs (V z - (V x + Rsum (map (term_value d) (concat (all_blocks d w))))) <=
    ((1 + C) * (1 + last_share d) - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w)))) +
    ((1 + last_share d) * J + last_loss d).
Proof.
  intros Oc Dc Le Vz m C J. destruct (power_pos m) as [C0 J0].
  apply (error_of_call d (term_value d) (fun w' => w' = w) in_sum_format C J Oc C0); auto.
  intros w' x' r -> D Zx R. now apply parts_from_zero with x'.
Qed.

(** ** Calls one after the other, the first from c = 0 *)

Definition calls_sum (l : list words) : R := Rsum (map (fun w => Rsum (map (term_value d) (concat (all_blocks d w)))) l).
Definition calls_size (l : list words) : R := Rsum (map (fun w => Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w)))) l).

(** c = 0 is added exactly. *)
Definition keeps_sums : bool :=
  match composed d with
  | Some how => let c := out (addition how) in
      negb (flushes c) && (p (out s) <=? p c)%Z && (emin c - p c <=? emin (out s) - p (out s))%Z
  | None => false
  end.

Lemma kept_sum how r x z : composed d = Some how -> keeps_sums = true -> exact_node (addition how) = true ->
  sum_numbers (addition how) [r; x] = Num z -> V x = 0 -> in_sum_format r -> V z = V r.
Proof.
  intros Co Ks En Sn X Fr. rewrite (exact_node_value _ _ _ En Sn). unfold exact_sum. cbn [map Rsum fold_right]. rewrite X, !Rplus_0_r.
  unfold keeps_sums in Ks. rewrite Co in Ks. repeat rewrite andb_true_iff in Ks. destruct Ks as [[Fl Pp] Em]. apply negb_true_iff in Fl. apply Z.leb_le in Pp, Em.
  unfold flushed_rnd. rewrite Fl. cbn [andb]. set (c := out (addition how)) in *. unfold flt_rnd.
  destruct from_zero_parts as [t [_ [_ [_ [_ [_ [_ [_ [_ [_ Pl]]]]]]]]]]. pose proof (plain_p _ Pl) as P0.
  pose proof (flt_valid c ltac:(lia)) as FV.
  destruct Fr as [->|Fr]; [apply round_0; auto with typeclass_instances|]. apply round_generic; auto with typeclass_instances.
  eapply generic_inclusion_mag; [|exact Fr]. intros _. unfold flt, FLT_exp. lia.
Qed.

(** With at most m + 1 blocks a call, and n + 1 calls: C of one call, and ((1 + C) (1 + u)^n - 1) of all. *)
Theorem relative_error_of_calls l m z x :
  composition_ok d = true -> keeps_sums = true -> V x = 0 ->
  Forall (fun w => Forall (leading_element d) (concat (all_blocks d w)) /\ (Nat.pred (length (all_blocks d w)) <= m)%nat) l ->
  calls d l (Num x) = Num z ->
  let C := (1 + k0) * (1 + k) ^ m - 1 in
  let J := (1 + k) ^ m * h + h * geometric k m in
  let n := Nat.pred (length l) in
  Rabs (V z - calls_sum l) <= ((1 + C) * (1 + last_share d) ^ n - 1) * calls_size l +
    ((1 + last_share d) ^ n * J + ((1 + last_share d) * J + last_loss d) * geometric (last_share d) n).
Proof.
  intros Oc Ks X F E C J n. destruct from_zero_parts as [t [_ [_ [_ [_ [_ [_ [K0 [K00 [H0 Pl]]]]]]]]]]. destruct (power_pos m) as [C0 J0].
  destruct (composed_start Oc) as [St [how [Co En]]].
  pose proof (error_of_calls d (term_value d) (fun w => Forall (leading_element d) (concat (all_blocks d w)) /\ (Nat.pred (length (all_blocks d w)) <= m)%nat) in_sum_format C J 0 Oc C0 J0) as G.
  cbv beta in G. rewrite Rplus_0_r in G. apply G with x; auto; [|lra|].
  - intros w x' r [Le Mw] D Zx R. destruct (parts_from_zero w x' r Oc D Zx Le R) as [G1 G2]. split; [|exact G2]. eapply Rle_trans; [exact G1|].
    set (i := Nat.pred (length (all_blocks d w))) in *. assert (P : (1 + k) ^ i <= (1 + k) ^ m) by (apply Rle_pow; [lra|exact Mw]).
    assert (Gm : geometric k i <= geometric k m).
    { clear -Mw K0. induction Mw; [lra|]. cbn [geometric]. assert (0 <= (1 + k) ^ m) by (apply pow_le; lra). lra. }
    assert (A0 : 0 <= Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w)))) by (apply Rsum_nonneg; intros; apply Rabs_pos).
    apply Rplus_le_compat; [apply Rmult_le_compat_r; auto; unfold C; nra|]. unfold J. apply Rplus_le_compat; [apply Rmult_le_compat_r; auto|apply Rmult_le_compat_l; auto].
  - intros how' r y v Co' Pr Y Sn. rewrite Co in Co'. injection Co' as <-. rewrite (kept_sum how r y v Co Ks En Sn Y Pr), Rminus_eq_0, Rabs_R0. lra.
Qed.
End FromZero.

(** * Sums of integers on designs of one fused sum *)

Lemma integers_in_turn d s B bs : sum_of d = Some s -> integers_ok s B = true -> c_rule d = Kept -> odd_first d = false -> zero_terms (factors d) = None ->
  forall x, integer (V x) -> normal x ->
  Forall (fun e => exists y, term d e = Num y /\ integer (V y) /\ normal y) (concat bs) ->
  Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (concat bs)) <= bp B ->
  exists z, in_turn d bs (Num x) = Num z /\ V z = V x + Rsum (map (term_value d) (concat bs)) /\ normal z /\ integer (V z).
Proof.
  intros S O Ck Od Zt. induction bs as [|b r IH]; intros x Ix Nx Ft A.
  - exists x. cbn. repeat split; auto. ring.
  - cbn [concat] in *. apply Forall_app in Ft. destruct Ft as [Fb Fr]. rewrite map_app, Rsum_app in A.
    assert (Us : exists us, map (term d) b = map Num us /\ Forall (fun y => integer (V y)) us /\ Forall normal us).
    { clear -Fb. induction Fb as [|e l [y [E [I N]]] Fb [us [U1 [U2 U3]]]]; [exists []; auto|].
      exists (y :: us). cbn. rewrite E, U1. auto. }
    destruct Us as [us [U1 [U2 U3]]].
    destruct (terms_sums d b us x U1) as [E1 E2].
    assert (A0 : 0 <= Rsum (map (fun e => Rabs (term_value d e)) (concat r))) by (apply Rsum_nonneg; intros; apply Rabs_pos).
    destruct (integer_block s B (us ++ [x]) O) as [z [Hz [Vz Nz]]].
    { apply Forall_app; auto. } { apply Forall_app; auto. } { rewrite E2. lra. }
    assert (Bv : block_value d (Num x) b = Num z).
    { rewrite (block_value_one d s) by auto. rewrite taken_kept, Ck, flush_kept by auto. unfold block_products, ordered. rewrite Od.
      change (sum_values s (map (term d) b ++ [Num x]) = Num z). rewrite U1. change [Num x] with (map Num [x]). now rewrite <- map_app, sum_values_num. }
    rewrite E1 in Vz.
    assert (Iz : integer (V z)).
    { rewrite Vz, <- E1. apply integer_sum. apply Forall_app; auto. }
    destruct (IH z Iz Nz Fr) as [y [Y1 [Y2 [Y3 Y4]]]].
    { assert (Rabs (V z) <= Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)); [|lra].
      rewrite Vz, <- E1, <- E2. apply exact_sum_abs. }
    exists y. unfold in_turn in *. cbn [fold_left]. rewrite Bv. split; auto. split; auto. rewrite Y2, Vz, map_app, Rsum_app. ring.
Qed.

Definition integers_fused_ok (d : design) (B : Z) : bool :=
  match sum_of d with
  | Some s => integers_ok s B && match c_rule d, zero_terms (factors d) with Kept, None => true | _, _ => false end && negb (odd_first d) &&
      match composed d with
      | None => true
      | Some how => match of_sum how, of_c how with Kept, Kept => true | _, _ => false end && exact_node (addition how) &&
          holds_integers B (out (addition how)) && is_num (decode (d_format d) 0) && is_zero (num_of (decode (d_format d) 0))
      end
  | None => false
  end.

(** Integers of normal factors whose magnitudes, c's among them, add up to 2^B at most: the result is their sum. *)
Theorem integers_fused d B w x :
  integers_fused_ok d B = true -> decode (c_format d) (c_word w) = Num x -> integer (V x) -> normal x ->
  Forall (fun e => exists y, term d e = Num y /\ integer (V y) /\ normal y) (concat (all_blocks d w)) ->
  Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w))) <= bp B ->
  exists z, value d w = Num z /\ V z = V x + Rsum (map (term_value d) (concat (all_blocks d w))).
Proof.
  intros O Dc Ix Nx Ft A. unfold integers_fused_ok in O. destruct (sum_of d) as [s|] eqn:S; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[Oi Ck] Od] Co]. apply negb_true_iff in Od.
  destruct (c_rule d) eqn:Cr; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  unfold value. destruct (composed d) as [how|] eqn:C.
  - repeat rewrite andb_true_iff in Co. destruct Co as [[[[Ck2 Ex] Hh] Nm] Z0].
    destruct (of_sum how) eqn:Os; try easy. destruct (of_c how) eqn:Oc; try easy. rewrite !flush_kept, Dc, parts_in_turn.
    destruct (decode (d_format d) 0) as [x0| |] eqn:D0; try easy. cbn [num_of] in Z0.
    unfold all_blocks in *. rewrite C in *.
    set (BS := concat (map (fun k => let xs := map (at_k (elements d w)) k in cut_list (length xs) (block d) xs) (parts how))) in *.
    pose proof (Rabs_pos (V x)) as Px.
    destruct (integers_in_turn d s B BS S Oi Cr Od Zt x0) as [r [R1 [R2 [_ R4]]]]; auto.
    { rewrite V_zero by auto. now exists 0%Z. } { intros Q. congruence. } { rewrite V_zero, Rabs_R0 by auto. lra. }
    rewrite (V_zero x0 Z0), Rplus_0_l in R2. rewrite R1.
    assert (Ar : Rabs (V r) <= Rsum (map (fun e => Rabs (term_value d e)) (concat BS))).
    { rewrite R2. clear. induction (concat BS); cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. }
    destruct (made_integers B 1 1 (Rsum [V r; V x]) (Rsum [Rabs (V r); Rabs (V x)]) (sum_values (addition how) [Num r; Num x])) as [z [Z1 [Z2 _]]].
    + exact (made_sum true integer (fun c => holds_integers B c = true) (addition how) 0
        [{| roundings := 0; exact := V r; size := Rabs (V r); got := Num r |}; {| roundings := 0; exact := V x; size := Rabs (V x); got := Num x |}]
        Hh Ex ltac:(repeat constructor; cbn; auto)).
    + cbn. lra.
    + exists z. split; auto. rewrite Z2. cbn. rewrite R2. ring.
  - rewrite Dc. unfold all_blocks in *. rewrite C in *.
    destruct (integers_in_turn d s B (blocks_of_word d w) S Oi Cr Od Zt x Ix Nx Ft A) as [z [Z1 [Z2 _]]]. exists z. split; auto.
Qed.

(** * The constants as fractions *)

(** In parts of 2^-F / 4096, of terms that lose so many parts. *)
Definition kappa_parts (c : conversion) (f lost : Z) : Z :=
  ((if nearest (rho c) then lost else Z.max (lost - 4096) 0) + 4096 * 2 ^ (f - p c - (if nearest (rho c) then 1 else 0)))%Z.

Definition kappa_is (d : sum) (f lost num den : Z) : bool :=
  match alignment d with RZ => true | _ => false end && (0 <=? f)%Z && (p (out d) + (if nearest (rho (out d)) then 1 else 0) <=? f)%Z &&
  (0 <? den)%Z && (kappa_parts (out d) f lost * den =? num * 4096 * 2 ^ f)%Z.

Lemma kappa_fraction d f lost num den : kappa_is d f lost num den = true -> kappa d f (IZR lost * / 4096) = IZR num / IZR den.
Proof.
  unfold kappa_is. intros O. repeat rewrite andb_true_iff in O. destruct O as [[[[A F0] P] D] E]. destruct (alignment d) eqn:Al; try easy.
  apply Z.leb_le in F0, P. apply Z.ltb_lt in D. apply Z.eqb_eq in E. apply (f_equal IZR) in E. rewrite !mult_IZR in E.
  assert (D0 : IZR den <> 0) by (apply not_0_IZR; lia). assert (B0 : bp f <> 0) by (pose proof (bpow_gt_0 radix2 f); lra).
  assert (Q : kappa d f (IZR lost * / 4096) = IZR (kappa_parts (out d) f lost) * / 4096 * bp (- f)).
  { unfold kappa. rewrite Al. cbn [growth]. unfold kept, share, kappa_parts. destruct (nearest (rho (out d))); rewrite plus_IZR, mult_IZR, <- bp_Z by lia.
    - replace (bp (- p (out d) - 1)) with (bp (f - p (out d) - 1) * bp (- f)) by (rewrite <- bpow_plus; f_equal; lia). field.
    - replace (bp (- p (out d))) with (bp (f - p (out d) - 0) * bp (- f)) by (rewrite <- bpow_plus; f_equal; lia).
      assert (M : Rmax (IZR lost * / 4096 - 1) 0 = IZR (Z.max (lost - 4096) 0) * / 4096).
      { destruct (Z.max_spec (lost - 4096) 0) as [[h ->]|[h ->]].
        - rewrite Rmax_right; [lra|]. assert (IZR lost < 4096) by (apply IZR_lt; lia). lra.
        - rewrite Rmax_left; rewrite ?minus_IZR; [lra|]. assert (4096 <= IZR lost) by (apply IZR_le; lia). lra. }
      rewrite M. field. }
  rewrite Q. rewrite <- (bp_Z f) in E by lia. rewrite bpow_opp.
  apply Rmult_eq_reg_r with (4096 * bp f * IZR den); [|repeat apply Rmult_integral_contrapositive_currified; auto; lra].
  field_simplify; auto. lra.
Qed.

(** The constants of a block that other blocks precede, and of one from c = 0. *)
Theorem kappa_units d f lam n num den : kappa_is d f (lam * Z.max (n - 1) 0 + 4096) num den = true ->
  kappa d f (units (IZR lam * / 4096) n) = IZR num / IZR den.
Proof.
  intros H. rewrite <- (kappa_fraction _ _ _ _ _ H). f_equal. unfold units. rewrite plus_IZR, mult_IZR. lra.
Qed.

Theorem kappa_alone d f lam n num den : kappa_is d f (lam * Z.max (n - 1) 0) num den = true ->
  kappa d f (units_alone (IZR lam * / 4096) n) = IZR num / IZR den.
Proof.
  intros H. rewrite <- (kappa_fraction _ _ _ _ _ H). f_equal. unfold units_alone. rewrite mult_IZR. lra.
Qed.
